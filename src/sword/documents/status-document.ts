import { atomFacts, type DepositModel, headFacts } from './deposit-model.ts';
import { type Document, depositFields, type RenderContext } from './document.ts';

export type StatusDocument = Omit<DepositModel, 'createdAt' | 'archive'> & {
  /** The client's own identifier: of the metadata, else the slug; `null` without either. */
  readonly externalId: string | null;
  /** `null` until the deposit is complete. */
  readonly origin: string | null;
};

/** Describes the document of the State-IRI. With `refIdAliases` it repeats the identifiers as `deposit_swh_id…`. */
export function statusDocument(
  document: StatusDocument,
  { iris, refIdAliases }: Pick<RenderContext, 'iris'> & { readonly refIdAliases: boolean },
): Document {
  const { depositId, collection, status, statusDetail, loaded, externalId, origin } = document;
  return {
    element: 'entry',
    isHot: true,
    facts: [
      ...headFacts(document),
      ...atomFacts(document, iris.status(collection, depositId)),
      ...depositFields({
        deposit_id: depositId,
        deposit_status: status,
        deposit_status_detail: statusDetail,
        ...(loaded && { deposit_ref_id: loaded.refId, deposit_ref_id_context: loaded.refIdContext }),
        ...(loaded &&
          refIdAliases && { deposit_swh_id: loaded.refId, deposit_swh_id_context: loaded.refIdContext }),
        ...(externalId !== null && { deposit_external_id: externalId }),
        ...(origin !== null && { deposit_origin_url: origin }),
      }),
    ],
  };
}
