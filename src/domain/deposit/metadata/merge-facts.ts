import type { EntryFacts, MetadataEntry } from '../events.ts';

type MergedFacts = Pick<EntryFacts, 'hasTitle' | 'hasAuthor' | 'urlHosts' | 'dateCreated' | 'datePublished'>;

/** Merges the facts of all entries: all values of lists, the first of other fields; `undefined` without entries. */
export function mergeFacts(entries: readonly Pick<MetadataEntry, 'facts'>[]): MergedFacts | undefined {
  const facts = entries.map((entry) => entry.facts);
  if (facts.length === 0) return undefined;
  return {
    hasTitle: facts.some(({ hasTitle }) => hasTitle),
    hasAuthor: facts.some(({ hasAuthor }) => hasAuthor),
    urlHosts: [...new Set(facts.flatMap(({ urlHosts }) => urlHosts))],
    dateCreated: first(facts, 'dateCreated'),
    datePublished: first(facts, 'datePublished'),
  };
}

function first(facts: readonly EntryFacts[], key: 'dateCreated' | 'datePublished'): string | null {
  return facts.find((one) => one[key] !== null)?.[key] ?? null;
}
