import { archiveEntry } from './archive-entry.ts';
import { generatorElement } from './generator.ts';
import type { Language } from './language.ts';
import { ATOM } from './namespaces.ts';
import { FEED_TYPE } from './negotiate.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import type { Statement } from './statement.ts';
import { element, xmlBody } from './xml-body.ts';

/** What the EM-IRI gives, as an Atom feed with an entry for each archive (SWORD 2.0, section 6.4). */
export function mediaFeed(statement: Statement, { iris, depositNamespace, generator }: Language): string {
  const { collection, depositId } = statement;
  const feed = [
    element('id', `${urnOf(statement)}#media`),
    element('title', `Archives of ${titleOf(statement)}`),
    element('updated', statement.updatedAt),
    element('author', [element('name', statement.author)]),
    generatorElement(generator),
    element('link', '', { rel: 'self', href: iris.media(collection, depositId), type: FEED_TYPE }),
    ...statement.archives.map((archive) => archiveEntry(archive, statement, iris)),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}
