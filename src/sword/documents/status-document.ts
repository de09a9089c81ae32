import { atomFacts, type DepositModel, headFacts } from './deposit-model.ts';
import { type Document, depositFields, type RenderContext } from './document.ts';

export type StatusDocument = Omit<DepositModel, 'createdAt' | 'archive'> & {
  /** The client's own identifier: of the metadata, else the slug; `null` without either. */
  readonly externalId: string | null;
  /** `null` until the deposit is complete. */
  readonly origin: string | null;
};

type StatusFacts = Pick<
  StatusDocument,
  'depositId' | 'status' | 'statusDetail' | 'loaded' | 'externalId' | 'origin'
>;

/** Describes the document of the State-IRI. */
export function statusDocument(
  document: StatusDocument,
  { iris, refIdAliases }: Pick<RenderContext, 'iris'> & { readonly refIdAliases: boolean },
): Document {
  const { depositId, collection } = document;
  return {
    element: 'entry',
    isHot: true,
    facts: [
      ...headFacts(document),
      ...atomFacts(document, iris.status(collection, depositId)),
      ...depositFields(statusFields(document, refIdAliases)),
    ],
  };
}

/**
 * Returns the status under the names that documents and notifications give its parts. With `refIdAliases` the
 * identifiers are repeated as `deposit_swh_id…`.
 */
export function statusFields(
  { depositId, status, statusDetail, loaded, externalId, origin }: StatusFacts,
  refIdAliases: boolean,
): Readonly<Record<`deposit_${string}`, string | number>> {
  return {
    deposit_id: depositId,
    deposit_status: status,
    deposit_status_detail: statusDetail,
    ...(loaded && { deposit_ref_id: loaded.refId, deposit_ref_id_context: loaded.refIdContext }),
    ...(loaded &&
      refIdAliases && { deposit_swh_id: loaded.refId, deposit_swh_id_context: loaded.refIdContext }),
    ...(externalId !== null && { deposit_external_id: externalId }),
    ...(origin !== null && { deposit_origin_url: origin }),
  };
}
