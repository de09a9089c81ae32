import type { Iris } from '../iris.ts';
import { STATE_SCHEME } from '../namespaces.ts';
import { archiveFeed, archiveFeedJson, type FeedName } from './archive-feed.ts';
import type { Language } from './language.ts';
import { type Statement, stateIri } from './statement.ts';
import { type BodyElement, element } from './xml-body.ts';

/** The Statement as an Atom feed with an entry for each archive (SWORD 2.0, section 11.3). */
export function statementFeed(statement: Statement, language: Language): string {
  const state = stateElements(statement, stateIri(statement, language.depositNamespace));
  return archiveFeed(nameOf(statement, language.iris), statement, language, state);
}

/** The same facts as JSON. */
export function statementJson(statement: Statement, language: Language): string {
  const href = stateIri(statement, language.depositNamespace);
  const state = { href, label: statement.status, description: statement.statusDetail };
  return archiveFeedJson(nameOf(statement, language.iris), statement, language, { state });
}

function nameOf({ collection, depositId }: Statement, iris: Iris): FeedName {
  return { fragment: 'statement', title: 'Statement', href: iris.statement(collection, depositId) };
}

/** As the profile has it, and as client libraries older than its last edition look for it. */
function stateElements({ status, statusDetail }: Statement, iri: string): BodyElement[] {
  return [
    element('category', statusDetail, { scheme: STATE_SCHEME, term: iri, label: status }),
    element('sword:state', [element('sword:stateDescription', statusDetail)], { href: iri }),
  ];
}
