import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { type DepositParts, type Written, writtenDeposit } from '../../deposits/client-write.ts';
import { missingParts } from '../../domain/deposit/checks.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { missingDetail } from '../../domain/deposit/status-detail.ts';
import { depositReceipt } from '../../sword/documents/deposit-receipt.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/accept.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import type { View } from '../../views/view.ts';
import { collectionNamed } from '../requests/path-names.ts';
import type { ServiceContext } from '../service-context.ts';
import type { DublinCoreCache } from './dublin-core-cache.ts';
import { answerVersion } from './representation.ts';

/** The sources of what a receipt shows in addition to its deposit. */
export type ReceiptOptions = RenderContext & {
  readonly terms: DublinCoreCache;
  readonly collections: View<CollectionView>;
};

export async function answerReceipt(
  ctx: ServiceContext,
  deposit: DepositContentView,
  options: ReceiptOptions,
): Promise<void> {
  const { treatment, describedAt } = collectionNamed(options.collections, deposit.collection);
  const latest = deposit.archives.at(-1);
  const terms = await options.terms.of(deposit.entries);
  const receipt = {
    ...deposit,
    archive: latest ? { filename: latest.filename, mediaType: mediaTypeOf(deposit) } : null,
    treatment,
    terms: terms ?? [],
    rejection: rejectionOf(deposit),
  };
  // A receipt without the terms must not be stored under the entity tag of its revision.
  const isWhole = terms !== undefined;
  const isOvertaken = describedAt !== null && describedAt >= deposit.updatedAt;
  const { depositId, revision } = deposit;
  const version = { depositId, revision, isWhole, isOvertaken };
  answerVersion(ctx, version, DOCUMENT_OFFERS, () => depositReceipt(receipt, options), options);
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

/** Answers 201 with the receipt; `Location` is the IRI that the write was about. */
export async function answerCreated(
  ctx: ServiceContext,
  written: Written,
  location: 'edit' | 'media',
  parts: ReceiptOptions & { readonly deposits: DepositParts },
): Promise<void> {
  const deposit = await writtenDeposit(parts.deposits, written);
  ctx.status = 201;
  ctx.set('Location', parts.iris[location](deposit.collection, deposit.depositId));
  await answerReceipt(ctx, deposit, parts);
}

export function withTag(ctx: ServiceContext, written: Written): Written {
  ctx.set('ETag', entityTag(written.depositId, written.revision));
  return written;
}
