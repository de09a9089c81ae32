import { archiveEntry, archiveFacts } from './archive-entry.ts';
import { generatorElement } from './generator.ts';
import type { Iris } from './iris.ts';
import type { Language } from './language.ts';
import { ATOM } from './namespaces.ts';
import { FEED_TYPE } from './negotiate.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import type { Statement } from './statement.ts';
import { element, xmlBody } from './xml-body.ts';

/** What the EM-IRI gives, as an Atom feed with an entry for each archive (SWORD 2.0, section 6.4). */
export function mediaFeed(statement: Statement, { iris, depositNamespace, generator }: Language): string {
  const feed = [
    element('id', idOf(statement)),
    element('title', feedTitle(statement)),
    element('updated', statement.updatedAt),
    element('author', [element('name', statement.author)]),
    generatorElement(generator),
    element('link', '', { ...selfLink(statement, iris), type: FEED_TYPE }),
    ...statement.archives.map((archive) => archiveEntry(archive, statement, iris)),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** The same facts as JSON. */
export function mediaFeedJson(
  statement: Statement,
  { iris, generator }: Pick<Language, 'iris' | 'generator'>,
): string {
  return JSON.stringify({
    id: idOf(statement),
    title: feedTitle(statement),
    updated: statement.updatedAt,
    author: { name: statement.author },
    generator,
    links: [selfLink(statement, iris)],
    entries: statement.archives.map((archive) => archiveFacts(archive, statement, iris)),
  });
}

function idOf(statement: Statement): string {
  return `${urnOf(statement)}#media`;
}

function feedTitle(statement: Statement): string {
  return `Archives of ${titleOf(statement)}`;
}

function selfLink({ collection, depositId }: Statement, iris: Iris) {
  return { rel: 'self', href: iris.media(collection, depositId) };
}
