import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import type { Connection } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import { linkOf } from './deposit-documents.ts';
import { child, childrenOf, readXml, textOf, UnreadableAnswer, type XmlElement } from './xml-tree.ts';

/** A page of a feed. */
export type Feed = {
  readonly iri: string;
  readonly entries: readonly XmlElement[];
  readonly root: XmlElement;
};

const FEED_TYPE = 'application/atom+xml;type=feed, application/atom+xml;q=0.9, application/xml;q=0.8';

/** Yields page after page, linked by `rel="next"` (RFC 5005). */
export async function* pagesOf(connection: Connection, first: string): AsyncGenerator<Feed> {
  const seen = new Set<string>();
  for (let iri: string | null = first; iri !== null; ) {
    if (seen.has(iri)) throw new Fault(`The pages of ${first} form a loop: ${iri} appears twice.`);
    seen.add(iri);
    const answer: Answer = await connection.get(iri, FEED_TYPE);
    const root = readXml(answer.body, `The response from ${iri}`);
    if (root.local !== 'feed')
      throw new UnreadableAnswer(`${iri} is not a feed: its root element is “${root.local}”.`);
    yield { iri, entries: childrenOf(root, 'entry'), root };
    iri = linkOf(root, 'next', iri) ?? linkOfAnswer(answer, 'next');
  }
}

export type HistoryEvent = {
  readonly type: string | null;
  readonly at: string | null;
  readonly by: string | null;
  readonly sentence: string | null;
  readonly details: readonly string[];
};

export function historyEventOf(entry: XmlElement): HistoryEvent {
  const author = child(entry, 'author');
  const sentence = textOf(entry, 'title');
  const content = textOf(entry, 'content');
  return {
    type: child(entry, 'category')?.attributes.get('term') ?? null,
    at: textOf(entry, 'updated'),
    by: author ? textOf(author, 'name') : null,
    sentence,
    details: content === null || content === sentence ? [] : content.split('\n'),
  };
}
