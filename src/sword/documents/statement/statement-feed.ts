import type { Iris } from '../../iris.ts';
import { STATE_SCHEME } from '../../namespaces.ts';
import { type BodyElement, element } from '../../xml/xml-body.ts';
import { archiveFeed, archiveFeedJson, type FeedName } from '../feeds/archive-feed.ts';
import type { RenderContext } from '../render-context.ts';
import { type Statement, stateIri } from './statement.ts';

/** Renders the Statement as an Atom feed with an entry for each archive (SWORD 2.0, section 11.3). */
export function statementFeed(statement: Statement, renderContext: RenderContext): string {
  const state = stateElements(statement, stateIri(statement, renderContext.depositNamespace));
  return archiveFeed(nameOf(statement, renderContext.iris), statement, renderContext, state);
}

/** Renders the same facts as JSON. */
export function statementJson(statement: Statement, renderContext: RenderContext): string {
  const href = stateIri(statement, renderContext.depositNamespace);
  const state = { href, label: statement.status, description: statement.statusDetail };
  return archiveFeedJson(nameOf(statement, renderContext.iris), statement, renderContext, { state });
}

function nameOf({ collection, depositId }: Statement, iris: Iris): FeedName {
  return { fragment: 'statement', title: 'Statement', href: iris.statement(collection, depositId) };
}

/** Returns the state in two forms: that of the profile, and the one that older client libraries read. */
function stateElements({ status, statusDetail }: Statement, iri: string): BodyElement[] {
  return [
    element('category', statusDetail, { scheme: STATE_SCHEME, term: iri, label: status }),
    element('sword:state', [element('sword:stateDescription', statusDetail)], { href: iri }),
  ];
}
