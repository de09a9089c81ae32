import { isStatusChange } from '../../src/deposits/status-change.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import type { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

/** Notifications that a receiver accepted, compared with the status events of a log. */
export type NotificationsReceived = {
  /** Deposits in the log. */
  readonly deposits: number;
  /** Status events in the log. */
  readonly wanted: number;
  /** Status events of which no notification came. */
  readonly lost: number;
  /** Deposits with a first delivery that came after one of a higher revision. */
  readonly disordered: readonly string[];
  /** Deliveries after the first with the same `webhook-id`. */
  readonly repeated: number;
  /** Notifications that are about no status event. */
  readonly unknown: number;
  readonly unsigned: number;
};

/** Returns the revisions of status events by deposit, in their order. */
export async function statusEvents(log: EventLog): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const wanted = new Map<number, Map<string, number>>();
  for await (const event of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (!isStatusChange(event)) continue;
    const deposit = Number(event.data['depositId']);
    const ofDeposit = wanted.get(deposit) ?? new Map<string, number>();
    wanted.set(deposit, ofDeposit.set(event.id, event.revision));
  }
  return wanted;
}

/** Compares what a receiver accepted with the events of {@link statusEvents}. */
export function notificationsReceived(
  wanted: ReadonlyMap<number, ReadonlyMap<string, number>>,
  { received, taken }: Pick<WebhookReceiver, 'received' | 'taken'>,
): NotificationsReceived {
  const first = new Set(taken.map(({ id }) => id));
  const ids = [...wanted.values()].flatMap((events) => [...events.keys()]);
  const disordered = [...wanted].flatMap(([deposit, events]) => {
    const came = new Set(taken.filter((one) => one.deposit === deposit).map(({ id }) => id));
    const revisions = [...came].map((id) => events.get(id) ?? -1);
    const isOrdered = revisions.every((revision, at) => at === 0 || revision > (revisions[at - 1] ?? 0));
    return isOrdered ? [] : [`Deposit ${deposit} was notified of in the order ${revisions.join(', ')}.`];
  });
  return {
    deposits: wanted.size,
    wanted: ids.length,
    lost: ids.filter((id) => !first.has(id)).length,
    disordered,
    repeated: taken.length - first.size,
    unknown: [...first].filter((id) => !ids.includes(id)).length,
    unsigned: received.filter(({ isSigned }) => !isSigned).length,
  };
}
