import { FEED_TYPE } from '../headers/negotiate.ts';
import { ATOM } from '../namespaces.ts';
import { archiveEntry, archiveFacts } from './archive-entry.ts';
import { generatorElement } from './generator.ts';
import type { Language } from './language.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import type { Statement } from './statement.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

/** What a feed of the archives of a deposit is called. */
export type FeedName = {
  /** Behind the `#` of its id. */
  readonly fragment: string;
  /** Before “of” and the title of the deposit. */
  readonly title: string;
  /** Where it is. */
  readonly href: string;
};

/** An Atom feed with an entry for each archive; `more` comes before these. */
export function archiveFeed(
  { fragment, title, href }: FeedName,
  statement: Statement,
  { iris, depositNamespace, generator }: Language,
  more: readonly BodyElement[] = [],
): string {
  const feed = [
    element('id', `${urnOf(statement)}#${fragment}`),
    element('title', `${title} of ${titleOf(statement)}`),
    element('updated', statement.updatedAt),
    element('author', [element('name', statement.author)]),
    generatorElement(generator),
    element('link', '', { rel: 'self', href, type: FEED_TYPE }),
    ...more,
    ...statement.archives.map((archive) => archiveEntry(archive, statement, iris)),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** The same facts as JSON. */
export function archiveFeedJson(
  { fragment, title, href }: FeedName,
  statement: Statement,
  { iris, generator }: Pick<Language, 'iris' | 'generator'>,
  more: object = {},
): string {
  return JSON.stringify({
    id: `${urnOf(statement)}#${fragment}`,
    title: `${title} of ${titleOf(statement)}`,
    updated: statement.updatedAt,
    author: { name: statement.author },
    generator,
    links: [{ rel: 'self', href }],
    ...more,
    entries: statement.archives.map((archive) => archiveFacts(archive, statement, iris)),
  });
}
