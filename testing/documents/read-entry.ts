import { readEntry as readingEntry } from '../../src/sword/entry/atom-entry.ts';
import type { Steps } from '../../src/sword/entry/cooperative.ts';
import { entryFacts as findingFacts } from '../../src/sword/entry/entry-facts.ts';

/** Reads an entry like the service, but synchronously. */
export function readEntry(...read: Parameters<typeof readingEntry>) {
  return atOnce(readingEntry(...read));
}

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
