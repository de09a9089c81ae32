import type { CollectionView } from '../../../projections/collections.ts';
import type { ArchiveStore, LocalSource } from '../../archive-store/archive-store.ts';
import type { ArchiveLimits, ArchiveReader } from '../../archives/inspection.ts';
import { type ArchiveVerdict, check } from '../../domain/deposit/checks.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { judgeMetadata } from '../../domain/deposit/metadata-checks.ts';
import { statusDetail, withWarnings } from '../../domain/deposit/status-detail.ts';
import { Places } from '../../places.ts';
import {
  type DryRunDocument,
  dryRunDocument,
  dryRunDocumentJson,
} from '../../sword/documents/dry-run-document.ts';
import { negotiate } from '../../sword/headers/negotiate.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { ServiceContext } from '../service-context.ts';
import { bodyKind, parseDepositRequest } from './deposit-request.ts';
import { collectionJudge } from './judge-entry.ts';
import type { LoadedThings } from './metadata-target.ts';
import { type ReceivedContent, type ReceiveOptions, receiveContent } from './receive-content.ts';

/** Where dry runs take place, apart from all that is kept. */
export type DryRunPlaces = {
  readonly begin: () => Promise<DryRunPlace>;
  readonly reader: Pick<ArchiveReader, 'inspect'>;
  readonly limits: ArchiveLimits;
};

type DryRunPlace = AsyncDisposable &
  Pick<ArchiveStore, 'put'> & { readonly source: (sha256: string) => LocalSource };

/** More at a time would wait for each other's archives; slow bodies of one client are not to keep others from theirs. */
const [MAX_AT_A_TIME, MAX_OF_CLIENT] = [8, 4];

/** Deposits that are checked and not made: what came with them is gone when they are answered. */
export class DryRuns {
  readonly #places: DryRunPlaces;
  readonly #things: LoadedThings;
  readonly #receive: ReceiveOptions;
  readonly #underWay = new Places(MAX_AT_A_TIME, MAX_OF_CLIENT);

  constructor(places: DryRunPlaces, things: LoadedThings, receive: ReceiveOptions) {
    this.#places = places;
    this.#things = things;
    this.#receive = receive;
  }

  /** Answers 200 with what the checks find; what would refuse the request itself refuses this one. */
  async answer(ctx: ServiceContext, collection: CollectionView): Promise<void> {
    const { client } = ctx.state.login;
    const lack = this.#underWay.lackFor(client);
    if (lack === 'share taken') throw busy(`${MAX_OF_CLIENT} dry runs of yours`);
    if (lack === 'all taken') throw busy(`${MAX_AT_A_TIME} dry runs`);
    using _place = this.#underWay.take(client);
    const document = await this.#run(ctx, collection);
    const { contentType, format } = negotiate(ctx.req.headers.accept);
    ctx.vary('Accept');
    ctx.body =
      format === 'json'
        ? dryRunDocumentJson(document)
        : dryRunDocument(document, this.#receive.depositNamespace);
    ctx.set('Content-Type', contentType);
  }

  async #run(ctx: ServiceContext, { accept }: CollectionView): Promise<DryRunDocument> {
    const request = parseDepositRequest(ctx);
    const accepted = { archives: accept, entry: true };
    const body = bodyKind(ctx, accepted);
    await using place = await this.#places.begin();
    const judge = collectionJudge(body, request, ctx.state.login, this.#things);
    const options = { ...this.#receive, store: place };
    const content = await receiveContent(ctx, request, body, accepted, judge, options);
    return {
      requestId: ctx.state.requestId,
      title: content.entry?.facts.title ?? null,
      updatedAt: clock.date().toISOString(),
      ...(await this.#verdict(content, ctx.state.login.domain, place)),
    };
  }

  async #verdict(
    { archive, entry }: ReceivedContent,
    clientDomain: string | null,
    place: DryRunPlace,
  ): Promise<Pick<DryRunDocument, 'status' | 'statusDetail'>> {
    const entries = entry ? [entry] : [];
    if (entry?.facts.reference) {
      const { warnings } = judgeMetadata(entries);
      return { status: 'done', statusDetail: withWarnings('The metadata would be deposited.', warnings) };
    }
    const archives = archive ? [await this.#inspected(archive, place)] : [];
    const outcome = check({ entries, archives, conflicts: [], clientDomain });
    const { warnings } = outcome;
    if (outcome.verified) {
      return {
        status: 'verified',
        statusDetail: withWarnings('The deposit would pass its checks.', warnings),
      };
    }
    return { status: 'rejected', statusDetail: statusDetail('rejected', outcome.reasons, warnings) };
  }

  async #inspected(archive: Archive, place: DryRunPlace): Promise<ArchiveVerdict> {
    const { reader, limits } = this.#places;
    const inspection = await reader.inspect(place.source(archive.sha256), archive.sha256, limits);
    if (inspection.outcome === 'refused') {
      return { archive, reading: null, faults: inspection.faults, warnings: [] };
    }
    return { archive, reading: null, faults: [], warnings: inspection.warnings };
  }
}

function busy(what: string): SwordError {
  const text = `${what} are under way, more are not possible at a time: try again later.`;
  return new SwordError('ServiceUnavailable', text, { headers: { 'Retry-After': '5' } });
}
