import { archiveEntry, archiveFacts } from './archive-entry.ts';
import { generatorElement } from './generator.ts';
import type { Iris } from './iris.ts';
import type { Language } from './language.ts';
import { ATOM, STATE_SCHEME } from './namespaces.ts';
import { FEED_TYPE } from './negotiate.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import { type Statement, stateIri } from './statement.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

/** The Statement as an Atom feed with an entry for each archive (SWORD 2.0, section 11.3). */
export function statementFeed(statement: Statement, { iris, depositNamespace, generator }: Language): string {
  const feed = [
    element('id', idOf(statement)),
    element('title', feedTitle(statement)),
    element('updated', statement.updatedAt),
    element('author', [element('name', statement.author)]),
    generatorElement(generator),
    element('link', '', { ...selfLink(statement, iris), type: FEED_TYPE }),
    ...stateElements(statement, stateIri(statement, depositNamespace)),
    ...statement.archives.map((archive) => archiveEntry(archive, statement, iris)),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** The same facts as JSON. */
export function statementJson(statement: Statement, { iris, depositNamespace, generator }: Language): string {
  return JSON.stringify({
    id: idOf(statement),
    title: feedTitle(statement),
    updated: statement.updatedAt,
    author: { name: statement.author },
    generator,
    links: [selfLink(statement, iris)],
    state: {
      href: stateIri(statement, depositNamespace),
      label: statement.status,
      description: statement.statusDetail,
    },
    entries: statement.archives.map((archive) => archiveFacts(archive, statement, iris)),
  });
}

function idOf(statement: Statement): string {
  return `${urnOf(statement)}#statement`;
}

function feedTitle(statement: Statement): string {
  return `Statement of ${titleOf(statement)}`;
}

function selfLink({ collection, depositId }: Statement, iris: Iris) {
  return { rel: 'self', href: iris.statement(collection, depositId) };
}

/** As the profile has it, and as client libraries older than its last edition look for it. */
function stateElements({ status, statusDetail }: Statement, iri: string): BodyElement[] {
  return [
    element('category', statusDetail, { scheme: STATE_SCHEME, term: iri, label: status }),
    element('sword:state', [element('sword:stateDescription', statusDetail)], { href: iri }),
  ];
}
