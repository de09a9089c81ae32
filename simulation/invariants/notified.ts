import { isStatusChange } from '../../src/deposits/status-change.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { CLIENTS } from '../plan/plan.ts';
import { depositStreams } from './deposit-streams.ts';

/** A repetition may follow the end of its cause by this many milliseconds: retries pause up to five seconds. */
const AFTERMATH_MS = 20_000;

/** The wait is recorded within this many milliseconds after the end of a fault. */
const RECORDED_MS = 3000;

/** Clients with a webhook are notified of every change of status. */
export function* notifiedOfAll(history: EndedHistory): Generator<string> {
  for (const [stream, events] of depositStreams(history)) {
    if (events[0]?.data['client'] === CLIENTS.at(-1)) continue;
    const first = firstReceived(stream, history);
    for (const event of events)
      if (isStatusChange(event) && !first.includes(Number(event.revision)))
        yield `${event.type} ${stream}@${event.revision} was never received; received were ${first.join(', ')}`;
  }
}

/** The notifications of one deposit arrive in the order of its events, repetitions apart. */
export function* inOrder(history: EndedHistory): Generator<string> {
  for (const [stream] of depositStreams(history)) {
    const first = firstReceived(stream, history);
    const sorted = first.toSorted((one, other) => one - other);
    if (first.some((revision, index) => revision !== sorted[index]))
      yield `${stream}: received ${first.join(', ')}`;
  }
}

/** A notification is repeated only if a fault came between, or its answer was lost. */
export function* notifiedOnce({ received, faults }: EndedHistory): Generator<string> {
  const first = new Map<string, (typeof received)[number]>();
  for (const notification of received) {
    const name = `deposit-${notification.depositId}@${notification.revision}`;
    const before = first.get(name);
    first.set(name, notification);
    if (!before?.isAnswered) continue;
    const isCaused = faults.some(
      ({ from, until }) => from <= notification.at && until + AFTERMATH_MS >= before.at,
    );
    if (!isCaused)
      yield `${name} was received from ${before.sender} at ${before.at.toFixed(0)} ms and from ${notification.sender} at ${notification.at.toFixed(0)} ms`;
  }
}

/** A receiver that asks to wait is not sent the notification before, unless a fault came between, or clocks differ. */
export function* retriedInTime({ earlyRetries, faults }: EndedHistory): Generator<string> {
  for (const { name, sender, askedAt, at, waitUntil } of earlyRetries) {
    const isCaused = faults.some(
      ({ kind, from, until }) =>
        kind !== 'receiver' && from <= at && (kind === 'clock' || until + RECORDED_MS >= askedAt),
    );
    if (!isCaused)
      yield `${name} was sent by ${sender} at ${at.toFixed(0)} ms, although the receiver had asked at ${askedAt.toFixed(0)} ms to wait until ${waitUntil.toFixed(0)} ms`;
  }
}

/** Returns the revisions of a deposit in the order in which the receiver first received them. */
function firstReceived(stream: string, { received }: EndedHistory): number[] {
  const revisions = received
    .filter(({ depositId }) => stream === `deposit-${depositId}`)
    .map(({ revision }) => revision);
  return [...new Set(revisions)];
}
