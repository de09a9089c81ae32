import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { element } from '../xml/xml-body.ts';
import { xmlText } from '../xml/xml-text.ts';
import { humanDate } from './deposit-date.ts';
import { atomElements, depositElements } from './deposit-elements.ts';
import { type DepositModel, titleOf, urnOf } from './deposit-model.ts';

export type ContentDocument = Pick<
  DepositModel,
  | 'depositId'
  | 'uuid'
  | 'collection'
  | 'title'
  | 'author'
  | 'createdAt'
  | 'updatedAt'
  | 'status'
  | 'statusDetail'
>;

/** Renders the document of the CONT-FILE-IRI. */
export function contentDocument(
  document: ContentDocument,
  { iris, depositNamespace }: { iris: Pick<Iris, 'content'>; depositNamespace: string },
): string {
  const entry = [
    element('id', urnOf(document)),
    element('title', titleOf(document)),
    element('updated', document.updatedAt),
    element('published', document.createdAt),
    ...atomElements(document, iris.content(document.collection, document.depositId)),
    ...depositElements(fieldsOf(document)),
  ];
  return xmlText(element('entry', entry), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function contentDocumentJson(document: ContentDocument): string {
  return JSON.stringify({
    id: urnOf(document),
    title: titleOf(document),
    updated: document.updatedAt,
    published: document.createdAt,
    ...fieldsOf(document),
  });
}

function fieldsOf({ depositId, createdAt, status, statusDetail }: ContentDocument) {
  return {
    deposit_id: depositId,
    deposit_date: humanDate(new Date(createdAt)),
    deposit_status: status,
    deposit_status_detail: statusDetail,
  };
}
