import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { deposits } from '../../domain/aggregates.ts';
import { type EventLog, occurredAt, type RecordedEvent } from '../../event-log/event-log.ts';
import type { View } from '../../views/view.ts';
import { AWAITED, type AwaitedStatus, isAwaited } from '../reactor-names.ts';
import { pagedByTime } from './paged-view.ts';
import type { UnreadableDeposits } from './unreadable-deposits.ts';

type StuckDeposit = { readonly reactor: 'checker' | 'loader'; readonly event: RecordedEvent };

/** Returns how many deposits have been in each of these statuses since before `limit`, RFC 3339. */
export function countStuck(
  statuses: Pick<View<DepositStatusView>, 'count'>,
  limit: string,
): Readonly<Record<AwaitedStatus, number>> {
  const count = (status: AwaitedStatus): number =>
    statuses.count({ equal: { status }, upTo: { field: 'updatedAt', value: limit } });
  return { deposited: count('deposited'), verified: count('verified'), loading: count('loading') };
}

/**
 * Yields the deposits that wait for a reactor and have not changed since `limit`, each with the event to handle. The
 * view names candidates; the stream decides.
 */
export async function* stuckDeposits(
  log: Pick<EventLog, 'readStream'>,
  statuses: View<DepositStatusView>,
  limit: string,
  unreadable: UnreadableDeposits,
  signal: AbortSignal,
): AsyncGenerator<StuckDeposit> {
  for (const status of Object.keys(AWAITED) as AwaitedStatus[]) {
    const range = { equal: { status }, field: 'updatedAt', from: '', upTo: limit } as const;
    for await (const { depositId } of pagedByTime(statuses, range, signal)) {
      const stuck = await unreadable.tryRead(depositId, () => awaitedEvent(log, depositId));
      if (stuck && stuck !== 'unreadable' && stuck.since <= limit) yield stuck;
    }
  }
}

/**
 * Returns the reactor and event that a deposit waits for, and the time of its last change. Returns `undefined` if it
 * waits for none.
 */
export async function awaitedEvent(
  log: Pick<EventLog, 'readStream'>,
  depositId: number,
): Promise<(StuckDeposit & { readonly since: string }) | undefined> {
  const { decider, codec, prefix } = deposits;
  let state = decider.initial;
  let last: RecordedEvent | undefined;
  const begun = new Map<string, RecordedEvent>();
  for await (const stored of log.readStream(`${prefix}${depositId}`)) {
    state = decider.evolve(state, codec.read(stored));
    last = stored;
    for (const { reactor, begins } of Object.values(AWAITED))
      if (begins.has(stored.type)) begun.set(reactor, stored);
  }
  if (!last || !isAwaited(state.status)) return undefined;
  const { reactor } = AWAITED[state.status];
  const event = begun.get(reactor);
  return event && { reactor, event, since: occurredAt(last) };
}
