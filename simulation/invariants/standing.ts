import type { EndedHistory } from '../history/ended-history.ts';

/** Events are counted for a fifth of a second: an answer that comes sooner has counted all of them. */
const COUNTED_FOR_MS = 200;

/** No node reports that nothing waits while an event is not acknowledged. */
export function* honestStandings({ standings }: EndedHistory): Generator<string> {
  for (const { at, took, node, waiting, unacknowledged } of standings)
    if (took < COUNTED_FOR_MS && waiting === 0 && unacknowledged.length > 0)
      yield `${node} reported at ${at.toFixed(0)} ms that no event waits; not acknowledged were ${unacknowledged.join(', ')}`;
}
