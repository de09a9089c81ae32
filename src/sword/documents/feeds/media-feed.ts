import type { Iris } from '../../iris.ts';
import type { RenderContext } from '../render-context.ts';
import type { Statement } from '../statement/statement.ts';
import { archiveFeed, archiveFeedJson, type FeedName } from './archive-feed.ts';

/** Renders the archives at the EM-IRI as an Atom feed with an entry for each (SWORD 2.0, section 6.4). */
export function mediaFeed(statement: Statement, renderContext: RenderContext): string {
  return archiveFeed(nameOf(statement, renderContext.iris), statement, renderContext);
}

/** Renders the same facts as JSON. */
export function mediaFeedJson(
  statement: Statement,
  renderContext: Pick<RenderContext, 'iris' | 'generator'>,
): string {
  return archiveFeedJson(nameOf(statement, renderContext.iris), statement, renderContext);
}

function nameOf({ collection, depositId }: Statement, iris: Iris): FeedName {
  return { fragment: 'media', title: 'Archives', href: iris.media(collection, depositId) };
}
