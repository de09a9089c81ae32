import type { CollectionView } from '../../../projections/collections.ts';
import { type DepositParts, type Written, writtenDeposit } from '../../deposits/client-write.ts';
import type { LoadedDepositsLookup } from '../../deposits/validate-entry.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import type { Iris } from '../../sword/iris.ts';
import type { View } from '../../views/view.ts';
import type { WriteChecks } from '../requests/write-checks.ts';
import type { DepositDocuments } from '../responses/answer-documents.ts';
import type { ServiceContext } from '../service-context.ts';

/** The parts that handlers of writes share: the checks before, the use cases, the documents after. */
export type WriteParts = {
  readonly checks: WriteChecks;
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
