import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { type DepositParts, type Written, writtenDeposit } from '../../deposits/client-write.ts';
import type { LoadedDepositsLookup } from '../../deposits/validate-entry.ts';
import { missingParts } from '../../domain/deposit/checks.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { missingDetail } from '../../domain/deposit/status-detail.ts';
import { identifiersOf } from '../../swhid/deposit-identifiers.ts';
import { contentDocument } from '../../sword/documents/content-document.ts';
import { depositReceipt } from '../../sword/documents/deposit-receipt.ts';
import type { Document, RenderContext } from '../../sword/documents/document.ts';
import { render } from '../../sword/documents/render.ts';
import { statusDocument } from '../../sword/documents/status-document.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import type { Iris } from '../../sword/iris.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import type { View } from '../../views/view.ts';
import { collectionNamed } from '../iris/deposit-resource.ts';
import type { PassChecks } from '../requests/write-checks.ts';
import type { ServiceContext } from '../service-context.ts';
import type { DublinCoreCache } from './dublin-core-cache.ts';
import { type AtRevision, answerDocument, chooseRepresentation } from './representation.ts';

export type DocumentOptions = RenderContext & {
  readonly refIdAliases: boolean;
  /** Generation of the views: documents rendered from earlier generations are not reused. */
  readonly switches: () => number;
  readonly terms: DublinCoreCache;
  readonly collections: View<CollectionView>;
};

/** Maximum number of characters in the cache: some thousands of usual bodies. */
const MAX_RENDERED_CHARACTERS = 8 * 1024 ** 2;

/**
 * Answers with documents about deposits, as XML or JSON. Caches rendered bodies by resource, revision and
 * representation, up to a total size.
 */
export class DepositDocuments {
  readonly #options: DocumentOptions;
  readonly #rendered = new LruCache<string>(MAX_RENDERED_CHARACTERS, ({ length }) => length);

  constructor(options: DocumentOptions) {
    this.#options = options;
  }

  async receipt(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    const { treatment, describedAt } = collectionNamed(this.#options.collections, deposit.collection);
    const latest = deposit.archives.at(-1);
    const terms = await this.#options.terms.of(deposit.entries);
    const receipt = {
      ...deposit,
      author: deposit.client,
      archive: latest ? { filename: latest.filename, mediaType: mediaTypeOf(deposit) } : null,
      treatment,
      terms: terms ?? [],
      rejection: rejectionOf(deposit),
    };
    // A receipt without the terms must not be stored under the entity tag of its revision.
    const isWhole = terms !== undefined;
    const isOvertaken = describedAt !== null && describedAt >= deposit.updatedAt;
    this.#answer(
      ctx,
      { ...deposit, isWhole, isOvertaken },
      `receipt ${isWhole ? 'whole' : 'without terms'} ${treatment}`,
      () => depositReceipt(receipt, this.#options),
    );
  }

  status(ctx: ServiceContext, deposit: DepositStatusView): void {
    const externalId = deposit.externalIdentifier ?? deposit.slug;
    const document = { ...deposit, author: deposit.client, loaded: identifiersOf(deposit), externalId };
    this.#answer(ctx, deposit, 'status', () => statusDocument(document, this.#options));
  }

  content(ctx: ServiceContext, deposit: DepositContentView): void {
    const document = { ...deposit, author: deposit.client };
    this.#answer(ctx, deposit, 'content', () => contentDocument(document, this.#options));
  }

  #answer(
    ctx: ServiceContext,
    { depositId, revision, ...version }: AtRevision,
    kind: string,
    describe: () => Document,
  ): void {
    const chosen = chooseRepresentation(ctx, { depositId, revision, ...version }, DOCUMENT_OFFERS);
    if (!chosen) return;
    const { contentType, format } = chosen;
    const key = `${this.#options.switches()} ${depositId}-${revision} ${format} ${kind}`;
    const body = this.#renderOnce(key, () => render(describe(), format, this.#options));
    answerDocument(ctx, contentType, body);
  }

  #renderOnce(key: string, render: () => string): string {
    const known = this.#rendered.get(key);
    if (known !== undefined) return known;
    const body = render();
    this.#rendered.set(key, body);
    return body;
  }
}

/** Returns why the deposit is rejected, or will be for what is missing in it; `null` without a reason. */
function rejectionOf(deposit: DepositContentView): string | null {
  if (deposit.status === 'rejected') return deposit.statusDetail;
  const missing = deposit.status === 'deposited' ? missingParts(deposit) : [];
  return missing.length === 0 ? null : missingDetail(missing);
}

/** Returns the media type of the deposit's content; several archives are served as one zip. */
export function mediaTypeOf({
  archives: [first, ...more],
}: {
  readonly archives: readonly Pick<Archive, 'mediaType'>[];
}): string {
  return first && more.length === 0 ? first.mediaType : 'application/zip';
}

/** The parts that handlers of writes share: the checks before, the use cases, the documents after. */
export type WriteParts = {
  readonly passChecks: PassChecks;
  readonly deposits: DepositParts;
  readonly collections: View<CollectionView>;
  readonly lookup: LoadedDepositsLookup;
  readonly documents: DepositDocuments;
  readonly iris: Iris;
};

/** Answers 201 with the receipt; `Location` is the IRI that the write was about. */
export async function answerCreated(
  ctx: ServiceContext,
  written: Written,
  location: 'edit' | 'media',
  { deposits, documents, iris }: Pick<WriteParts, 'deposits' | 'documents' | 'iris'>,
): Promise<void> {
  const deposit = await writtenDeposit(deposits, written);
  ctx.status = 201;
  ctx.set('Location', iris[location](deposit.collection, deposit.depositId));
  await documents.receipt(ctx, deposit);
}

/** Sets the entity tag of the changed deposit. */
export function withTag(ctx: ServiceContext, written: Written): Written {
  ctx.set('ETag', entityTag(written.depositId, written.revision));
  return written;
}
