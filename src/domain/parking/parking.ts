import { type Decider, Refusal } from '../decider.ts';
import { Decisions } from './decisions.ts';

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
};

export type ParkingCommand =
  | ({ type: 'ParkEvent' } & ParkedEvent)
  | { type: 'RetryParked'; reactor: string; eventId: string }
  | { type: 'SkipParked'; reactor: string; eventId: string; reason: string };

/** The last decision and those before it; a linked list, since there may be thousands. */
export type Parking = { readonly last: ParkingEvent; readonly before: Parking } | undefined;

export class ParkingRefusal extends Refusal<'NOT_PARKED'> {}

export const parkingDecider: Decider<Parking, ParkingCommand, ParkingEvent> = {
  initial: undefined,
  decide,
  evolve: (before, last) => ({ last, before }),
};

/** Returns all decisions so far. */
export function decisionsIn(parking: Parking): Decisions {
  const decisions = new Decisions();
  for (const decision of [...newestFirst(parking)].toReversed()) decisions.add(decision);
  return decisions;
}

function decide(command: ParkingCommand, parking: Parking): readonly ParkingEvent[] {
  const { reactor, eventId } = command;
  const isParked = newestFirst(parking).find(({ data }) => data.eventId === eventId)?.type === 'EventParked';
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

function* newestFirst(parking: Parking): Generator<ParkingEvent, undefined> {
  for (let at = parking; at; at = at.before) yield at.last;
}
