import { parkings } from '../../src/domain/aggregates.ts';
import { type ParkedEvent, type ParkingEvent, waitingEvents } from '../../src/domain/parking/parking.ts';
import type { ServerLog } from '../cluster/server-log.ts';
import { recorded } from './recorded.ts';

/** Yields every event that was parked at some time. */
export function* everParked(log: ServerLog): Generator<ParkedEvent> {
  for (const decisions of decisionsIn(log))
    for (const { type, data } of decisions) if (type === 'EventParked') yield data;
}

/** Yields the events that are parked at the end. */
export function* stillParked(log: ServerLog): Generator<ParkedEvent> {
  const { initial, evolve } = parkings.decider;
  for (const decisions of decisionsIn(log)) yield* waitingEvents(decisions.reduce(evolve, initial));
}

function* decisionsIn({ streams }: ServerLog): Generator<ParkingEvent[]> {
  for (const [stream, events] of streams)
    if (stream.startsWith(parkings.prefix)) yield events.map((event) => parkings.codec.read(recorded(event)));
}
