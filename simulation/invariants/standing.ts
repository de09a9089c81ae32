import type { EndedHistory } from '../history/ended-history.ts';
import type { Standing } from '../history/standings.ts';

/** No node reports that nothing waits while an event is not acknowledged. */
export function* honestStandings(history: EndedHistory): Generator<string> {
  for (const standing of history.standings) {
    const { at, node, waiting, unacknowledged } = standing;
    if (waiting !== 0 || unacknowledged.length === 0 || mayBeOfOldLeader(standing, history)) continue;
    const events = unacknowledged.join(', ');
    yield `${node} reported at ${at.toFixed(0)} ms that no event waits; not acknowledged were ${events}`;
  }
}

/** A leader that was deposed counts the events that it has, and nothing in its answer shows that. */
function mayBeOfOldLeader({ at, took }: Standing, { faults }: EndedHistory): boolean {
  return faults.some(({ kind, from, until }) => kind === 'partition' && from <= at && until >= at - took);
}
