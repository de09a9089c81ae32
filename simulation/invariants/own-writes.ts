import type { EndedHistory } from '../history/ended-history.ts';
import { successes } from './successes.ts';

/** The answer to a write shows the deposit as the write has left it, or later. */
export function* ownWrites(history: EndedHistory): Generator<string> {
  for (const { command, node, endedAt, outcome } of successes(history)) {
    const { depositId, revision, shown } = outcome;
    const name = `${command} of deposit ${depositId} by ${node}, at revision ${revision},`;
    if (shown && shown.revision < revision) yield `${name} was answered with revision ${shown.revision}`;
    const wasDeleted = history.log
      .stream(`deposit-${depositId}`)
      .some(({ type, committedAt }) => type === 'DepositDeleted' && committedAt <= endedAt);
    if (!shown && !wasDeleted) yield `${name} was answered without the deposit`;
  }
}
