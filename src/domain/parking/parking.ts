import { type Decider, Refusal } from '../decider.ts';

/** Decisions about events that a reactor could not process: one stream per reactor. */
export type ParkingEvent =
  | { type: 'EventParked'; data: ParkedEvent }
  | { type: 'ParkedRetried'; data: { reactor: string; eventId: string } }
  | { type: 'ParkedSkipped'; data: { reactor: string; eventId: string; reason: string } };

/** The event, its stream and revision, and why it was parked. */
export type ParkedEvent = {
  readonly reactor: string;
  readonly eventId: string;
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
  /** Digest of the store object that could not be read; the event is retried once the object is readable. */
  readonly object?: string;
  /** Number of failed tries. Older releases did not record it. */
  readonly tries?: number;
};

export type ParkingCommand =
  | ({ type: 'ParkEvent' } & ParkedEvent)
  | { type: 'RetryParked'; reactor: string; eventId: string }
  | { type: 'SkipParked'; reactor: string; eventId: string; reason: string };

/** The last decision, its number from 0, and those before it; a linked list, since there may be thousands. */
export type Parking =
  | { readonly last: ParkingEvent; readonly index: number; readonly before: Parking }
  | undefined;

export class ParkingRefusal extends Refusal<'NOT_PARKED'> {}

export const parkingDecider: Decider<Parking, ParkingCommand, ParkingEvent> = {
  initial: undefined,
  decide,
  evolve: (before, last) => ({ last, index: before ? before.index + 1 : 0, before }),
};

/** Returns the events that wait for an operator, in the order in which they were parked. */
export function waitingEvents(parking: Parking): ParkedEvent[] {
  return lastDecisions(parking).flatMap(({ type, data }) => (type === 'EventParked' ? [data] : []));
}

/** Returns the ids of the events that wait for an operator, or that an operator has skipped for good. */
export function parkedOrSkipped(parking: Parking): ReadonlySet<string> {
  const left = lastDecisions(parking).filter(({ type }) => type !== 'ParkedRetried');
  return new Set(left.map(({ data }) => data.eventId));
}

/**
 * Returns the event that the decision with this index, a `ParkedRetried`, requests to be retried, unless a later
 * decision concerns it, too.
 */
export function eventToRetry(parking: Parking, eventId: string, index: number): ParkedEvent | undefined {
  const decided = newestFirst(parking).filter(({ last }) => last.data.eventId === eventId);
  const decision = decided.next().value;
  if (decision?.index !== index) return undefined;
  for (const { last } of decided) if (last.type === 'EventParked') return last.data;
  return undefined;
}

function decide(command: ParkingCommand, parking: Parking): readonly ParkingEvent[] {
  const { reactor, eventId } = command;
  const decided = newestFirst(parking).find(({ last }) => last.data.eventId === eventId);
  const isParked = decided?.last.type === 'EventParked';
  if (command.type === 'ParkEvent') {
    const { type: _, ...data } = command;
    return isParked ? [] : [{ type: 'EventParked', data }];
  }
  if (!isParked) throw new ParkingRefusal('NOT_PARKED', `No event ${eventId} is parked for the ${reactor}.`);
  switch (command.type) {
    case 'RetryParked':
      return [{ type: 'ParkedRetried', data: { reactor, eventId } }];
    case 'SkipParked':
      return [{ type: 'ParkedSkipped', data: { reactor, eventId, reason: command.reason } }];
    default:
      return command satisfies never;
  }
}

/** Returns the last decision about each event, oldest first. */
function lastDecisions(parking: Parking): ParkingEvent[] {
  const last = new Map<string, ParkingEvent>();
  for (const { last: decision } of newestFirst(parking)) last.getOrInsert(decision.data.eventId, decision);
  return [...last.values()].toReversed();
}

function* newestFirst(parking: Parking): Generator<NonNullable<Parking>, undefined> {
  for (let at = parking; at; at = at.before) yield at;
}
