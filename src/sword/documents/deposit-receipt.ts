import type { DublinCoreTerm } from '../entry/dublin-core-terms.ts';
import { FEED_TYPE } from '../headers/negotiate.ts';
import { PACKAGINGS } from '../headers/packaging.ts';
import type { Iris } from '../iris.ts';
import { ADD_RELATION, ATOM, HISTORY_RELATION, ORIGINAL_DEPOSIT, STATEMENT_RELATION } from '../namespaces.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';
import { xmlText } from '../xml/xml-text.ts';
import { humanDate } from './deposit-date.ts';
import { depositElements } from './deposit-elements.ts';
import { type DepositModel, titleOf, urnOf } from './deposit-model.ts';
import { type Generator, generatorElement } from './generator.ts';

export type Receipt = Omit<DepositModel, 'statusDetail' | 'loaded'> & {
  /** Treatment of deposits of this collection, in a sentence. */
  readonly treatment: string;
  /** In upload order. */
  readonly archives: readonly ReceivedArchive[];
  /** Dublin Core terms of its metadata. */
  readonly terms: readonly DublinCoreTerm[];
};

type ReceivedArchive = {
  readonly number: number;
  readonly filename: string;
  readonly mediaType: string;
  /** Number of bytes. */
  readonly length: number;
  /** Hex digits; `md5` only if the client sent it. */
  readonly sha256: string;
  readonly md5: string | null;
};

/** Renders the deposit receipt, the response to writes and to GET on the Edit-IRI. */
export function depositReceipt(
  receipt: Receipt,
  { iris, depositNamespace, generator }: { iris: Iris; depositNamespace: string; generator: Generator },
): string {
  const entry = [
    element('id', urnOf(receipt)),
    element('title', titleOf(receipt)),
    element('updated', receipt.updatedAt),
    element('published', receipt.createdAt),
    element('author', [element('name', receipt.author)]),
    generatorElement(generator),
    ...depositElements(fieldsOf(receipt)),
    ...contentElements(receipt, iris),
    ...linksOf(receipt, iris).map((link) => element('link', '', link)),
    ...receipt.archives.map((archive) => archiveLink(archive, receipt, iris)),
    ...PACKAGINGS.map((packaging) => element('sword:packaging', packaging)),
    element('sword:treatment', receipt.treatment),
    ...receipt.terms.map(({ name, value }) => element(`dcterms:${name}`, value)),
  ];
  return xmlText(element('entry', entry), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function depositReceiptJson(
  receipt: Receipt,
  { iris, generator }: { iris: Iris; generator: Generator },
): string {
  const { collection, depositId, archive } = receipt;
  return JSON.stringify({
    id: urnOf(receipt),
    title: titleOf(receipt),
    updated: receipt.updatedAt,
    published: receipt.createdAt,
    author: { name: receipt.author },
    generator,
    ...fieldsOf(receipt),
    deposit_archive: archive?.filename ?? null,
    content: archive && { src: iris.media(collection, depositId), type: archive.mediaType },
    links: linksOf(receipt, iris),
    archives: receipt.archives.map(({ number, mediaType: type, ...archive }) => ({
      href: iris.file(collection, depositId, number),
      type,
      filename: archive.filename,
      length: archive.length,
      sha256: archive.sha256,
      ...(archive.md5 !== null && { md5: archive.md5 }),
    })),
    dcterms: receipt.terms,
    packaging: PACKAGINGS,
    treatment: receipt.treatment,
  });
}

function fieldsOf({ depositId, createdAt, archive, status }: Receipt) {
  return {
    deposit_id: depositId,
    deposit_date: humanDate(new Date(createdAt)),
    deposit_archive: archive?.filename ?? 'None',
    deposit_status: status,
  };
}

type Link = { readonly rel: string; readonly href: string; readonly type?: string };

function linksOf({ collection, depositId }: Receipt, iris: Iris): readonly Link[] {
  const edit = iris.edit(collection, depositId);
  const statement = iris.statement(collection, depositId);
  return [
    { rel: 'edit', href: edit },
    { rel: 'edit-media', href: iris.media(collection, depositId) },
    { rel: ADD_RELATION, href: edit },
    { rel: 'alternate', href: iris.status(collection, depositId) },
    { rel: STATEMENT_RELATION, href: statement, type: FEED_TYPE },
    { rel: STATEMENT_RELATION, href: statement, type: 'application/rdf+xml' },
    { rel: 'edit-media', href: iris.media(collection, depositId), type: FEED_TYPE },
    { rel: HISTORY_RELATION, href: iris.history(collection, depositId), type: FEED_TYPE },
  ];
}

/** Returns the link to one archive, with its digests. */
function archiveLink(archive: ReceivedArchive, { collection, depositId }: Receipt, iris: Iris): BodyElement {
  return element('link', '', {
    rel: ORIGINAL_DEPOSIT,
    href: iris.file(collection, depositId, archive.number),
    type: archive.mediaType,
    title: archive.filename,
    length: String(archive.length),
    'depositns:sha256': archive.sha256,
    ...(archive.md5 !== null && { 'depositns:md5': archive.md5 }),
  });
}

/**
 * Returns the content element, with the summary that Atom requires if the content is external (RFC 4287, section
 * 4.1.2).
 */
function contentElements(receipt: Receipt, iris: Iris): BodyElement[] {
  const { archive, collection, depositId } = receipt;
  if (!archive) return [];
  return [
    element('summary', `Source code of ${titleOf(receipt)}`),
    element('content', '', { src: iris.media(collection, depositId), type: archive.mediaType }),
  ];
}
