import type { EntryFacts, MetadataEntry } from '../events.ts';

/** Merges the facts of all entries: all values of lists, the first of other fields; `undefined` without entries. */
export function mergeFacts(entries: readonly Pick<MetadataEntry, 'facts'>[]): EntryFacts | undefined {
  const facts = entries.map((entry) => entry.facts);
  if (facts.length === 0) return undefined;
  return {
    title: first(facts, 'title'),
    hasTitle: facts.some(({ hasTitle }) => hasTitle),
    hasAuthor: facts.some(({ hasAuthor }) => hasAuthor),
    authors: distinct(facts, 'authors'),
    urlHosts: distinct(facts, 'urlHosts'),
    urlHostsTruncated: facts.some(({ urlHostsTruncated }) => urlHostsTruncated),
    origin: first(facts, 'origin'),
    externalIdentifier: first(facts, 'externalIdentifier'),
    version: first(facts, 'version'),
    dateCreated: first(facts, 'dateCreated'),
    datePublished: first(facts, 'datePublished'),
  };
}

function first<Key extends keyof EntryFacts>(facts: readonly EntryFacts[], key: Key): EntryFacts[Key] | null {
  return facts.find((one) => one[key] !== null)?.[key] ?? null;
}

function distinct(facts: readonly EntryFacts[], key: 'authors' | 'urlHosts'): readonly string[] {
  return [...new Set(facts.flatMap((one) => one[key]))];
}
