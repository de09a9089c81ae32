import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import type { DublinCoreTerm } from '../entry/dublin-core-terms.ts';
import { FEED_TYPE } from '../headers/accept.ts';
import { PACKAGINGS } from '../headers/packaging.ts';
import type { Iris } from '../iris.ts';
import { ADD_RELATION, HISTORY_RELATION, ORIGINAL_DEPOSIT, STATEMENT_RELATION } from '../namespaces.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';
import { humanDate } from './deposit-date.ts';
import { type DepositModel, headFacts, titleOf } from './deposit-model.ts';
import {
  authorFact,
  type Document,
  depositFields,
  type Fact,
  type Link,
  linksFact,
  onlyJson,
  onlyXml,
  type RenderContext,
  text,
  texts,
} from './document.ts';

export type Receipt = Omit<DepositModel, 'statusDetail' | 'loaded'> & {
  /** Why the deposit is rejected, or will be; `null` if there is no reason yet. */
  readonly rejection: string | null;
  /** Treatment of deposits of this collection, in a sentence. */
  readonly treatment: string;
  /** In upload order. */
  readonly archives: readonly NumberedArchive[];
  /** Dublin Core terms of its metadata. */
  readonly terms: readonly DublinCoreTerm[];
};

/** Describes the deposit receipt, the response to writes and to GET on the Edit-IRI. */
export function depositReceipt(
  receipt: Receipt,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): Document {
  const { archive, archives, depositId, createdAt, status, rejection, terms } = receipt;
  return {
    element: 'entry',
    isHot: true,
    facts: [
      ...headFacts(receipt),
      text('published', createdAt),
      authorFact(receipt.client),
      ...onlyJson({ generator }), // RFC 4287 has it in feeds alone
      ...depositFields({ deposit_id: depositId, deposit_date: humanDate(new Date(createdAt)) }),
      ...depositFields({ deposit_archive: archive?.filename ?? 'None' }).map((fact) => ({
        ...fact,
        value: archive?.filename ?? null,
      })),
      ...depositFields({
        deposit_status: status,
        ...(rejection !== null && { deposit_status_detail: rejection }),
      }),
      contentFact(receipt, iris),
      linksFact(linksOf(receipt, iris)),
      {
        name: 'archives',
        value: archives.map((received) => archiveObject(received, receipt, iris)),
        elements: archives.map((received) => archiveLink(received, receipt, iris)),
      },
      ...onlyJson({ dcterms: terms }),
      texts('packaging', PACKAGINGS, 'sword:packaging'),
      text('treatment', receipt.treatment, 'sword:treatment'),
      onlyXml(
        ...terms.map(({ name, value, lang }) =>
          element(`dcterms:${name}`, value, lang === undefined ? {} : { 'xml:lang': lang }),
        ),
      ),
    ],
  };
}

function linksOf({ collection, depositId }: Receipt, iris: Iris): readonly Link[] {
  const edit = iris.edit(collection, depositId);
  return [
    { rel: 'edit', href: edit },
    { rel: 'edit-media', href: iris.media(collection, depositId) },
    { rel: ADD_RELATION, href: edit },
    { rel: 'alternate', href: iris.status(collection, depositId) },
    { rel: STATEMENT_RELATION, href: iris.statement(collection, depositId), type: FEED_TYPE },
    { rel: STATEMENT_RELATION, href: iris.statementRdf(collection, depositId), type: 'application/rdf+xml' },
    { rel: 'edit-media', href: iris.mediaFeed(collection, depositId), type: FEED_TYPE },
    { rel: HISTORY_RELATION, href: iris.history(collection, depositId), type: FEED_TYPE },
  ];
}

/** Returns the link to one archive, with its digests. */
function archiveLink(archive: NumberedArchive, { collection, depositId }: Receipt, iris: Iris): BodyElement {
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

function archiveObject(archive: NumberedArchive, { collection, depositId }: Receipt, iris: Iris) {
  const { number, mediaType: type, filename, length, sha256, md5 } = archive;
  const href = iris.file(collection, depositId, number);
  return { href, type, filename, length, sha256, ...(md5 !== null && { md5 }) };
}

/** Returns the content, with the summary that Atom requires if the content is external (RFC 4287, section 4.1.2). */
function contentFact(receipt: Receipt, iris: Iris): Fact {
  const { archive, collection, depositId } = receipt;
  if (!archive) return { name: 'content', value: null };
  const value = { src: iris.media(collection, depositId), type: archive.mediaType };
  const summary = element('summary', `Source code of ${titleOf(receipt)}`);
  return { name: 'content', value, elements: [summary, element('content', '', value)] };
}
