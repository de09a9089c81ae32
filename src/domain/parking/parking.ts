import { type Decider, Refusal } from '../decider.ts';

/** What happens to events that a reactor could not get through: one stream a reactor. */
export type ParkingEvent =
  | { type: 'EventParked'; data: ParkedEvent }
  | { type: 'ParkedRetried'; data: { reactor: string; eventId: string } }
  | { type: 'ParkedSkipped'; data: { reactor: string; eventId: string; reason: string } };

/** Which event it is, where it lies, and what went wrong. */
export type ParkedEvent = {
  readonly reactor: string;
  readonly eventId: string;
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
};

export type ParkingCommand =
  | ({ type: 'ParkEvent' } & ParkedEvent)
  | { type: 'RetryParked'; reactor: string; eventId: string }
  | { type: 'SkipParked'; reactor: string; eventId: string; reason: string };

/** The events that wait for an operator, by their ids. */
export type Parking = ReadonlyMap<string, ParkedEvent>;

export class ParkingRefusal extends Refusal<'NOT_PARKED'> {}

export const parkingDecider: Decider<Parking, ParkingCommand, ParkingEvent> = {
  initial: new Map(),
  decide,
  evolve,
};

function decide(command: ParkingCommand, parking: Parking): readonly ParkingEvent[] {
  const { reactor, eventId } = command;
  const parked = parking.get(eventId);
  if (command.type === 'ParkEvent') {
    const { type: _, ...data } = command;
    return parked ? [] : [{ type: 'EventParked', data }];
  }
  if (!parked) throw new ParkingRefusal('NOT_PARKED', `No event ${eventId} is parked for the ${reactor}.`);
  switch (command.type) {
    case 'RetryParked':
      return [{ type: 'ParkedRetried', data: { reactor, eventId } }];
    case 'SkipParked':
      return [{ type: 'ParkedSkipped', data: { reactor, eventId, reason: command.reason } }];
    default:
      return command satisfies never;
  }
}

function evolve(parking: Parking, event: ParkingEvent): Parking {
  const next = new Map(parking);
  if (event.type === 'EventParked') next.set(event.data.eventId, event.data);
  else next.delete(event.data.eventId);
  return next;
}
