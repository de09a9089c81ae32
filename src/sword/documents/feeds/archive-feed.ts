import { FEED_TYPE } from '../../headers/negotiate.ts';
import { ATOM } from '../../namespaces.ts';
import { type BodyElement, element, xmlBody } from '../../xml/xml-body.ts';
import { titleOf, urnOf } from '../deposit-model.ts';
import { generatorElement } from '../generator.ts';
import type { RenderContext } from '../render-context.ts';
import type { Statement } from '../statement/statement.ts';
import { archiveEntry, archiveFacts } from './archive-entry.ts';

/** Name and address of a feed of the archives of a deposit. */
export type FeedName = {
  /** Part of its id after the `#`. */
  readonly fragment: string;
  /** Part of its title before “of” and the title of the deposit. */
  readonly title: string;
  /** IRI of the feed. */
  readonly href: string;
};

/** Renders an Atom feed with an entry for each archive; `more` is placed before the entries. */
export function archiveFeed(
  { fragment, title, href }: FeedName,
  statement: Statement,
  { iris, depositNamespace, generator }: RenderContext,
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

/** Renders the same facts as JSON. */
export function archiveFeedJson(
  { fragment, title, href }: FeedName,
  statement: Statement,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
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
