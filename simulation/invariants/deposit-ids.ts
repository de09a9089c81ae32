import type { EndedHistory } from '../history/ended-history.ts';
import { successes } from './successes.ts';

/** Reservations of deposit ids do not overlap. */
export function* distinctRanges({ log }: EndedHistory): Generator<string> {
  const ranges = log.stream('ids-deposit').map(({ data }) => {
    const { first, count } = data as { readonly first: number; readonly count: number };
    return { first, end: first + count };
  });
  ranges.sort((one, other) => one.first - other.first);
  for (const [index, { first, end }] of ranges.entries()) {
    const next = ranges[index + 1];
    if (next && next.first < end)
      yield `ids ${first} to ${end - 1} and those from ${next.first} were reserved`;
  }
}

/** Creations without a key make a deposit each. */
export function* distinctIds(history: EndedHistory): Generator<string> {
  const ids = new Map<number, string>();
  for (const { command, key, deposit, outcome } of successes(history)) {
    if (command !== 'create' || key !== undefined) continue;
    const other = ids.get(outcome.depositId);
    if (other !== undefined) yield `${other} and ${deposit} are both deposit ${outcome.depositId}`;
    ids.set(outcome.depositId, deposit);
  }
}
