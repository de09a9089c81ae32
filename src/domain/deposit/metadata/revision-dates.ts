import type { GitDate, MetadataEntry } from '../events.ts';
import { gitDateOf, parseGitDate } from './git-date.ts';
import { mergeFacts } from './merge-facts.ts';

/** Returns the dates of a deposit's revision: from its metadata, else from its completion, never from a clock. */
export function revisionDates(
  entries: readonly MetadataEntry[],
  completedAt: string,
): { readonly author: GitDate; readonly committer: GitDate } {
  const facts = mergeFacts(entries);
  const created = parseOptional(facts?.dateCreated);
  const published = parseOptional(facts?.datePublished);
  const completed = gitDateOf(completedAt);
  return { author: created ?? published ?? completed, committer: published ?? created ?? completed };
}

function parseOptional(text: string | null | undefined): GitDate | undefined {
  return typeof text === 'string' ? parseGitDate(text) : undefined;
}
