import { parkings } from '../../domain/aggregates.ts';
import { type ParkedEvent, parkingDecider, waitingEvents } from '../../domain/parking/parking.ts';
import { type EventLog, occurredAt } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';

/** A parked event, with when and how often it was parked. */
export type ParkedFacts = Omit<ParkedEvent, 'tries'> & {
  /** When it was parked, and when for the first time: RFC 3339. */
  readonly parkedAt: string;
  readonly firstParkedAt: string;
  readonly timesParked: number;
  /** Number of failed tries before it was parked, all times together; `null` if an older release parked it. */
  readonly tries: number | null;
  /** Seconds since it was parked. */
  readonly ageSeconds: number;
};

type Times = Pick<ParkedFacts, 'parkedAt' | 'firstParkedAt' | 'timesParked' | 'tries'>;

/** Resolves to the events of a reactor that wait for an operator, in the order in which they were parked. */
export async function parkedFacts(log: EventLog, reactor: string): Promise<ParkedFacts[]> {
  let state = parkingDecider.initial;
  const times = new Map<string, Times>();
  for await (const stored of log.readStream(`${parkings.prefix}${reactor}`)) {
    const event = parkings.codec.read(stored);
    state = parkingDecider.evolve(state, event);
    if (event.type !== 'EventParked') continue;
    const { eventId, tries = null } = event.data;
    times.set(eventId, parkedAgain(times.get(eventId), occurredAt(stored), tries));
  }
  return waitingEvents(state).map((parked) => {
    const known = times.get(parked.eventId) as Times; // every event that waits was parked
    const ageSeconds = Math.max(0, Math.round((clock.now() - Date.parse(known.parkedAt)) / 1000));
    return { ...parked, ...known, ageSeconds };
  });
}

function parkedAgain(before: Times | undefined, parkedAt: string, tries: number | null): Times {
  if (!before) return { parkedAt, firstParkedAt: parkedAt, timesParked: 1, tries };
  const sum = before.tries === null || tries === null ? null : before.tries + tries;
  return { ...before, parkedAt, timesParked: before.timesParked + 1, tries: sum };
}
