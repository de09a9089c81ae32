import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { CommandIdentity, DepositService } from '../../deposits/deposit-service.ts';
import type { OutageRetries } from '../../deposits/outage-retries.ts';
import type {
  Change,
  CreateDeposit,
  DepositCommand,
  DepositMetadata,
} from '../../domain/deposit/commands.ts';
import { assertArchives, assertChangeLimit } from '../../domain/deposit/limits.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import { TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import type { Iris } from '../../sword/iris.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { View } from '../../views/view.ts';
import {
  type Accepted,
  type BodyKind,
  bodyKind,
  type DepositRequest,
  parseDepositRequest,
} from '../requests/deposit-request.ts';
import { asMatched, assertChangeable } from '../requests/preconditions.ts';
import { type ReceivedContent, type ReceiveOptions, receiveContent } from '../requests/receive-content.ts';
import type { DepositDocuments } from '../responses/answer-documents.ts';
import type { ServiceContext } from '../service-context.ts';
import { fallbackOrigin } from './fallback-origin.ts';
import { IdempotentRequest, type RequestContent } from './idempotent-request.ts';
import { type LoadedDepositsLookup, targetOf } from './reference-target.ts';
import { collectionEntryValidator, type EntryValidator, softwareEntryValidator } from './validate-entry.ts';

export type WriteOptions = {
  readonly receive: ReceiveOptions;
  readonly iris: Iris;
  readonly maxArchives: number;
  readonly things: LoadedDepositsLookup;
};

/** A write that is in the log, and the revision that its answer has to show. */
export type Written = {
  readonly depositId: number;
  readonly revision: number;
  /** The request has a key: each repetition of it gets the answer that it got first. */
  readonly isRepeatable: boolean;
  readonly retries: OutageRetries;
};

/** The content of a request without a body. */
const NOTHING: RequestContent = { inProgress: null, slug: null, content: { archive: null, entry: null } };

/** Changes that bring content with them. */
export type ContentChange = Extract<Change['kind'], 'add-content' | 'replace-content'>;

/** The writes that the IRIs share: receive, command, answer. */
export class DepositWrites {
  readonly #depositService: DepositService;
  readonly #documents: DepositDocuments;
  readonly #collections: View<CollectionView>;
  readonly #options: WriteOptions;

  constructor(
    depositService: DepositService,
    documents: DepositDocuments,
    collections: View<CollectionView>,
    options: WriteOptions,
  ) {
    this.#depositService = depositService;
    this.#documents = documents;
    this.#collections = collections;
    this.#options = options;
  }

  /** A collection the client may use, so that it exists. */
  collection(name: string): CollectionView {
    const collection = this.#collections.get(name);
    if (!collection) throw notFound(`There is no collection ${name}.`);
    return collection;
  }

  /** Media types of archives that the collection takes; of a request that is repeated, all that it may have taken then. */
  async archiveTypes(ctx: ServiceContext, collection: string): Promise<readonly string[]> {
    return (await this.isReplay(ctx)) ? [ZIP_TYPE, TAR_TYPE] : this.collection(collection).accept;
  }

  receive(
    ctx: ServiceContext,
    request: DepositRequest,
    body: BodyKind,
    accepted: Accepted,
    judge: EntryValidator = softwareEntryValidator(ctx.state.login, this.#options.things),
  ): Promise<ReceivedContent> {
    return receiveContent(ctx, request, body, accepted, judge, this.#options.receive);
  }

  /** Receives the content of a new deposit. Its entry may refer to an earlier deposit. */
  receiveDeposit(
    ctx: ServiceContext,
    request: DepositRequest,
    body: BodyKind,
    accepted: Accepted,
  ): Promise<ReceivedContent> {
    const judge = collectionEntryValidator(body, request, ctx.state.login, this.#options.things);
    return this.receive(ctx, request, body, accepted, judge);
  }

  async create(
    ctx: ServiceContext,
    collection: string,
    content: ReceivedContent,
    { slug, inProgress }: DepositRequest,
  ): Promise<Written> {
    const { client, providerUrl } = ctx.state.login;
    const { archive, entry } = content;
    const { requestId } = ctx.state;
    const reference = entry?.facts.reference;
    const target = reference && (await targetOf(reference, ctx.state.login, this.#options.things));
    const command = (depositId: number, uuid: string, now: string): CreateDeposit | DepositMetadata => {
      const parts = { providerUrl, slug, uuid, collection, depositId };
      const origin = fallbackOrigin(this.#options.iris, parts);
      const made = { depositId, uuid, client, collection, now, providerUrl, fallbackOrigin: origin };
      if (entry && target) return { type: 'DepositMetadata', ...made, entry, target };
      return { type: 'CreateDeposit', ...made, slug, archive, entry, final: inProgress !== true };
    };
    const [repeated, retries] = [this.#repeated(ctx), this.#depositService.retries()];
    const begin = async (newId: () => Promise<number>) => {
      if (!repeated) return undefined;
      const depositId = (await repeated.earlier(retries.since))?.depositId ?? (await newId());
      return repeated.begin({ inProgress, slug, content }, depositId, requestId, retries);
    };
    const creating = () => this.#depositService.create(command, requestId, begin, retries);
    const { depositId, revision } = await this.#recorded(ctx, creating, (created) => created.depositId);
    return { depositId, revision, isRepeatable: repeated !== undefined, retries };
  }

  /**
   * Adds to the content of a partial deposit or replaces it, with what the request brings. `isFinal` says what
   * `In-Progress` means on this IRI.
   */
  async changeContent(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: ContentChange,
    accepted: Accepted,
    isFinal: (inProgress: boolean | null) => boolean,
  ): Promise<Written> {
    const request = parseDepositRequest(ctx);
    const isRepeated = await this.isReplay(ctx);
    if (!isRepeated) assertChangeable(ctx, deposit);
    const body = bodyKind(ctx, accepted);
    if (!isRepeated && kind === 'add-content' && body.kind === 'archive')
      assertArchives(deposit.archives.length + 1, this.#options.maxArchives);
    const isLast = isFinal(request.inProgress);
    if (!isRepeated && !isLast) assertChangeLimit(deposit.depositId, deposit.revision + 1);
    const content = await this.receive(ctx, request, body, accepted);
    const asked = { ...request, content };
    return this.change(ctx, deposit, { kind, ...content }, isLast, asked);
  }

  /** Changes a partial deposit, and completes it if this is its final request. */
  async change(
    ctx: ServiceContext,
    deposit: DepositContentView,
    change: Change,
    final: boolean,
    asked: RequestContent = NOTHING,
  ): Promise<Written> {
    const { providerUrl } = ctx.state.login;
    const { depositId } = deposit;
    const { maxArchives } = this.#options;
    const command = (now: string): DepositCommand => ({
      type: 'ChangeDeposit',
      depositId,
      change,
      final,
      maxArchives,
      now,
      providerUrl,
    });
    const written = await this.execute(ctx, deposit, command, asked);
    ctx.set('ETag', entityTag(depositId, written.revision));
    return written;
  }

  /** Completes a deposit to which nothing more comes. */
  complete(ctx: ServiceContext, deposit: DepositContentView): Promise<Written> {
    const { depositId } = deposit;
    return this.execute(ctx, deposit, (now) => ({ type: 'CompleteDeposit', depositId, now }));
  }

  /** Whether this very request, by its Idempotency-Key, has been carried out before. */
  async isReplay(ctx: ServiceContext): Promise<boolean> {
    const earlier = await this.#repeated(ctx)?.earlier();
    return earlier !== undefined && this.#depositService.wasExecuted(earlier);
  }

  async remove(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    const { depositId } = deposit;
    const reason = 'Deleted by the client.';
    await this.execute(ctx, deposit, () => ({ type: 'DeleteDeposit', depositId, reason }));
  }

  /** Carries out a command that is about the deposit as the client knows it, once if the request has a key. */
  async execute(
    ctx: ServiceContext,
    deposit: DepositContentView,
    command: (now: string) => DepositCommand,
    asked: RequestContent = NOTHING,
  ): Promise<Written> {
    const { depositId, client } = deposit;
    const options = { ...asMatched(ctx, deposit), retries: this.#depositService.retries() };
    const request = await this.#request(ctx, deposit, asked, command, options);
    const changing = () => this.#depositService.change(depositId, command, client, request, options);
    const { revision } = await this.#recorded(ctx, changing, () => depositId);
    return { depositId, revision, isRepeatable: request.once, retries: options.retries };
  }

  /**
   * The content of a deposit as a write has left it, or as it is since.
   * @throws {EventLogUnavailable} only what is older can be read.
   */
  async load({ depositId, revision, isRepeatable, retries }: Written): Promise<DepositContentView> {
    const deposit = isRepeatable
      ? await this.#depositService.contentAt(depositId, revision, retries)
      : await this.#depositService.content(depositId, revision, retries);
    if (!deposit) throw notFound(`Deposit ${depositId} has been deleted.`);
    return deposit;
  }

  /** 201 with the receipt; `Location` is the IRI that the write was about. */
  async answerCreated(ctx: ServiceContext, written: Written, location: 'edit' | 'media'): Promise<void> {
    const deposit = await this.load(written);
    ctx.status = 201;
    ctx.set('Location', this.#options.iris[location](deposit.collection, deposit.depositId));
    await this.answerReceipt(ctx, deposit);
  }

  answerReceipt(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    return this.#documents.receipt(ctx, deposit, this.collection(deposit.collection));
  }

  #repeated(ctx: ServiceContext): IdempotentRequest | undefined {
    return IdempotentRequest.of(ctx, this.#depositService.requests);
  }

  /** Begins the idempotency key. A refused request leaves its key unused. */
  async #request(
    ctx: ServiceContext,
    deposit: DepositContentView,
    asked: RequestContent,
    command: (now: string) => DepositCommand,
    options: { readonly atRevision?: number; readonly retries: OutageRetries },
  ): Promise<CommandIdentity> {
    const [{ requestId }, { depositId }, repeated] = [ctx.state, deposit, this.#repeated(ctx)];
    if (!repeated) return { commandId: requestId, requestId, once: false };
    const { retries } = options;
    if (!(await repeated.earlier(retries.since)))
      await this.#depositService.assertPossible(depositId, command, options);
    return { ...(await repeated.begin(asked, depositId, requestId, retries)), once: true };
  }

  /** If the archive is an upload that was named, this is what it was for: it can be named no more. */
  async #recorded<Outcome>(
    ctx: ServiceContext,
    append: () => Promise<Outcome>,
    depositOf: (outcome: Outcome) => number,
  ): Promise<Outcome> {
    const { namedArchive, requestId } = ctx.state;
    if (!namedArchive) return append();
    // What is repeated is recorded as what was asked for first.
    const first = (await this.#repeated(ctx)?.earlier())?.requestId ?? requestId;
    return namedArchive.record(first, append, depositOf);
  }
}
