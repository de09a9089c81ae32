import {
  ADD_RELATION,
  HISTORY_RELATION,
  STATE_SCHEME,
  STATEMENT_RELATION,
} from '../../src/sword/namespaces.ts';
import type { Answer } from '../http/answer.ts';
import { absoluteIri } from './absolute-iri.ts';
import { childrenOf, readXml, textOf, UnreadableAnswer, type XmlElement } from './xml-tree.ts';

/** A deposit as its receipt shows it. */
export type Receipt = {
  /** Its number or, on servers whose receipts name none, its Edit-IRI. */
  readonly deposit: string;
  readonly status: string | null;
  /** Name of the latest archive; `null` before the first, `undefined` on servers that return no receipt on request. */
  readonly archive: string | null | undefined;
  readonly links: DepositLinks;
  /** ETag after the last write; `null` if the server sends none. */
  readonly etag: string | null;
};

export type DepositLinks = {
  readonly edit: string;
  /** EM-IRI; `null` if the server names none. */
  readonly media: string | null;
  /** SE-IRI: accepts further metadata, and the completion of the deposit. */
  readonly add: string;
  /** IRI of the status; `null` if the server names none. On other servers it may lead to a page for people. */
  readonly state: string | null;
  /** IRI of the Statement as an Atom feed, which other servers have in place of a status. */
  readonly statement: string | null;
  readonly history: string | null;
};

export type Status = {
  readonly deposit: string;
  readonly title: string | null;
  readonly status: string;
  /** Whether the status is one of this kind of service, so that it is known which ones are final. */
  readonly isOfService: boolean;
  readonly detail: string | null;
  readonly updated: string | null;
  /** Identifier of the content once it is loaded, alone and with its context. */
  readonly swhid: string | null;
  readonly swhidContext: string | null;
};

/** Statuses that the server does not change by itself. */
const FINAL = new Set(['done', 'rejected', 'failed']);

export function isFinal({ status }: Pick<Status, 'status'>): boolean {
  return FINAL.has(status);
}

/**
 * Reads a receipt. The Edit-IRI may be in the document or in the `Location` header, or known already.
 * @throws {UnreadableAnswer}
 */
export function readReceipt(
  { body, iri, headers }: Pick<Answer, 'body' | 'iri' | 'headers'>,
  knownEdit?: string,
): Receipt {
  const entry = entryIn(body, iri);
  const link = (rel: string): string | null => linkOf(entry, rel, iri);
  const location = headers['location'] ?? knownEdit;
  const edit = link('edit') ?? (location && absoluteIri(location, iri));
  if (!edit) throw new UnreadableAnswer(`${iri} is not a deposit receipt: it has no edit link.`);
  const archive = textOf(entry, 'deposit_archive');
  return {
    deposit: textOf(entry, 'deposit_id') ?? edit,
    status: textOf(entry, 'deposit_status'),
    archive: archive === 'None' ? null : archive,
    links: {
      edit,
      media: link('edit-media'),
      add: link(ADD_RELATION) ?? edit,
      state: link('alternate'),
      statement: linkOf(entry, STATEMENT_RELATION, iri, (type) => !/rdf/.test(type)),
      history: link(HISTORY_RELATION),
    },
    etag: headers['etag'] ?? null,
  };
}

/** @throws {UnreadableAnswer} */
export function readStatus({ body, iri }: Pick<Answer, 'body' | 'iri'>): Status {
  return statusOf(entryIn(body, iri), iri);
}

/** Reads the outcome of a dry run, a status without a deposit. @throws {UnreadableAnswer} */
export function readDryRun({ body, iri }: Pick<Answer, 'body' | 'iri'>): Pick<Status, 'status' | 'detail'> {
  const entry = entryIn(body, iri);
  const status = textOf(entry, 'deposit_status');
  if (status === null) throw new UnreadableAnswer(`${iri} has no status of a dry run.`);
  return { status, detail: textOf(entry, 'deposit_status_detail') };
}

/** Reads the status from an entry, alone or in a feed. */
export function statusOf(entry: XmlElement, iri: string): Status {
  const [status, deposit] = [textOf(entry, 'deposit_status'), textOf(entry, 'deposit_id')];
  if (status === null) throw new UnreadableAnswer(`${iri} has no deposit status.`);
  if (deposit === null) throw new UnreadableAnswer(`${iri} has no deposit number.`);
  return {
    deposit,
    title: textOf(entry, 'title'),
    status,
    isOfService: true,
    detail: textOf(entry, 'deposit_status_detail', 'status_detail'),
    updated: textOf(entry, 'updated'),
    swhid: textOf(entry, 'deposit_ref_id', 'deposit_swh_id', 'swhid'),
    swhidContext: textOf(entry, 'deposit_ref_id_context', 'deposit_swh_id_context', 'swhid_context'),
  };
}

/** Reads the state of a deposit from its Statement, an Atom feed: the last part of the term, and its description. */
export function readStatement({ body, iri }: Pick<Answer, 'body' | 'iri'>, deposit: string): Status {
  const root = readXml(body, `The response from ${iri}`);
  const state = childrenOf(root, 'category').find(
    ({ attributes }) => attributes.get('scheme') === STATE_SCHEME,
  );
  const term = state?.attributes.get('term');
  if (root.local !== 'feed' || !state || !term)
    throw new UnreadableAnswer(`${iri} is not a Statement: it has no deposit state.`);
  return {
    ...unknownStatus(deposit),
    title: textOf(root, 'title'),
    status: term.split(/[/#]/).findLast((part) => part !== '') ?? term,
    detail: state.text.trim() || null,
    updated: textOf(root, 'updated'),
  };
}

/** Returns the status of a deposit about which the server states none. */
export function unknownStatus(deposit: string): Status {
  const none = { detail: null, updated: null, swhid: null, swhidContext: null };
  return { deposit, title: null, status: 'unknown', isOfService: false, ...none };
}

/** Returns the target of the first such link in a document. @throws {UnreadableAnswer} it is not an IRI. */
export function linkOf(
  element: XmlElement,
  rel: string,
  document: string,
  isWanted: (type: string) => boolean = () => true,
): string | null {
  const link = childrenOf(element, 'link').find(
    ({ attributes }) => attributes.get('rel') === rel && isWanted(attributes.get('type') ?? ''),
  );
  const href = link?.attributes.get('href');
  return href ? absoluteIri(href, document) : null;
}

function entryIn(body: Uint8Array, iri: string): XmlElement {
  const root = readXml(body, `The response from ${iri}`);
  if (root.local === 'entry') return root;
  throw new UnreadableAnswer(`${iri} is not a deposit: its root element is “${root.local}”.`);
}
