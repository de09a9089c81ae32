import { readEntry as readingEntry } from '../../src/sword/entry/atom-entry.ts';
import { entryFacts as findingFacts } from '../../src/sword/entry/entry-facts.ts';
import type { Steps } from '../../src/sword/entry/steps.ts';

/** As the service reads an entry, but at once. */
export function readEntry(...read: Parameters<typeof readingEntry>) {
  return atOnce(readingEntry(...read));
}

/** As the service finds what it needs of an entry, but at once. */
export function entryFacts(...found: Parameters<typeof findingFacts>) {
  return atOnce(findingFacts(...found));
}

function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
