import type { Iris } from '../iris.ts';
import { archiveFeed, archiveFeedJson, type FeedName } from './archive-feed.ts';
import type { Language } from './language.ts';
import type { Statement } from './statement.ts';

/** What the EM-IRI gives, as an Atom feed with an entry for each archive (SWORD 2.0, section 6.4). */
export function mediaFeed(statement: Statement, language: Language): string {
  return archiveFeed(nameOf(statement, language.iris), statement, language);
}

/** The same facts as JSON. */
export function mediaFeedJson(statement: Statement, language: Pick<Language, 'iris' | 'generator'>): string {
  return archiveFeedJson(nameOf(statement, language.iris), statement, language);
}

function nameOf({ collection, depositId }: Statement, iris: Iris): FeedName {
  return { fragment: 'media', title: 'Archives', href: iris.media(collection, depositId) };
}
