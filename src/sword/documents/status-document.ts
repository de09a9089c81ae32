import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { element } from '../xml/xml-body.ts';
import { xmlText } from '../xml/xml-text.ts';
import { atomElements, depositElements } from './deposit-elements.ts';
import { type DepositModel, titleOf, urnOf } from './deposit-model.ts';

export type StatusDocument = Pick<
  DepositModel,
  | 'depositId'
  | 'uuid'
  | 'collection'
  | 'title'
  | 'author'
  | 'updatedAt'
  | 'status'
  | 'statusDetail'
  | 'loaded'
>;

/** Renders the document of the State-IRI. With `refIdAliases` it repeats the identifiers as `deposit_swh_id…`. */
export function statusDocument(
  document: StatusDocument,
  {
    iris,
    depositNamespace,
    refIdAliases,
  }: { iris: Pick<Iris, 'status'>; depositNamespace: string; refIdAliases: boolean },
): string {
  const entry = [
    element('id', urnOf(document)),
    element('title', titleOf(document)),
    element('updated', document.updatedAt),
    ...atomElements(document, iris.status(document.collection, document.depositId)),
    ...depositElements(fieldsOf(document, refIdAliases)),
  ];
  return xmlText(element('entry', entry), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function statusDocumentJson(
  document: StatusDocument,
  { refIdAliases }: { refIdAliases: boolean },
): string {
  return JSON.stringify({
    id: urnOf(document),
    title: titleOf(document),
    updated: document.updatedAt,
    ...fieldsOf(document, refIdAliases),
  });
}

function fieldsOf({ depositId, status, statusDetail, loaded }: StatusDocument, refIdAliases: boolean) {
  return {
    deposit_id: depositId,
    deposit_status: status,
    deposit_status_detail: statusDetail,
    ...(loaded && { deposit_ref_id: loaded.refId, deposit_ref_id_context: loaded.refIdContext }),
    ...(loaded &&
      refIdAliases && { deposit_swh_id: loaded.refId, deposit_swh_id_context: loaded.refIdContext }),
  };
}
