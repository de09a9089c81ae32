import { ATOM } from '../namespaces.ts';
import { element, xmlBody } from '../xml/xml-body.ts';
import { depositElements } from './deposit-elements.ts';

/** Result of a dry run, which creates no deposit. */
export type DryRunDocument = {
  /** UUID of the request. */
  readonly requestId: string;
  readonly title: string | null;
  readonly updatedAt: string;
  readonly status: 'rejected' | 'verified' | 'done';
  readonly statusDetail: string;
};

/** Renders a status document without an id, since there is no deposit. */
export function dryRunDocument(document: DryRunDocument, depositNamespace: string): string {
  const entry = [
    element('id', urnOf(document)),
    element('title', titleOf(document)),
    element('updated', document.updatedAt),
    ...depositElements(fieldsOf(document)),
  ];
  return xmlBody(element('entry', entry), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function dryRunDocumentJson(document: DryRunDocument): string {
  const { updatedAt: updated } = document;
  return JSON.stringify({
    id: urnOf(document),
    title: titleOf(document),
    updated,
    dry_run: true,
    ...fieldsOf(document),
  });
}

function fieldsOf({ status, statusDetail }: DryRunDocument) {
  return { deposit_status: status, deposit_status_detail: statusDetail };
}

function urnOf({ requestId }: DryRunDocument): string {
  return `urn:uuid:${requestId}`;
}

function titleOf({ title }: DryRunDocument): string {
  return title ?? 'Dry run';
}
