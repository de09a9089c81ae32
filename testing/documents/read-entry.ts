import { readConfig } from '../../src/config/read-config.ts';
import { readEntry as readingEntry } from '../../src/sword/entry/atom-entry.ts';
import type { Steps } from '../../src/sword/entry/cooperative.ts';
import { entryFacts as findingFacts } from '../../src/sword/entry/entry-facts.ts';

/** The limits of a service without settings. */
export const { xmlLimits } = readConfig({});

/** Reads an entry like the service, but synchronously. */
export function readEntry(bytes: Uint8Array, { charset, limits = xmlLimits }: EntryOptions = {}) {
  return atOnce(readingEntry(bytes, charset, limits));
}

type EntryOptions = { readonly charset?: string | undefined; readonly limits?: typeof xmlLimits };

/** Extracts the facts of an entry like the service, but synchronously. */
export function entryFacts(...found: Parameters<typeof findingFacts>) {
  return atOnce(findingFacts(...found));
}

function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
