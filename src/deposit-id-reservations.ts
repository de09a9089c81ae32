import {
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  lastEvent,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from './event-log/event-log.ts';
import { chainHash, sealAfter } from './event-log/hash-chain.ts';
import { isBeyond, OutageRetries, type RetryLimits } from './outage-retries.ts';
import { clock } from './tools/clock.ts';
import { random } from './tools/random.ts';

const STREAM = 'ids-deposit';
const UNEXPLAINED = `Could not reserve a deposit id: the append to ${STREAM} was rejected, and no read shows another event`;

/** Reserves ranges of deposit ids in the event log, one reservation at a time. */
export class DepositIdReservations {
  readonly #log: EventLog;
  readonly #limits: RetryLimits;
  #tail: Tail | undefined;

  constructor(log: EventLog, limits: RetryLimits) {
    this.#log = log;
    this.#limits = limits;
  }

  /**
   * Reserves `count` ids for requests of which the last began at `since`, and resolves to the first of them.
   * @throws {EventLogUnavailable} the log accepts no reservation within the time limit.
   */
  async reserve(count: number, since: number): Promise<number> {
    const id = random.uuid();
    const retries = new OutageRetries(this.#limits, since);
    let tail = this.#tail ?? (await this.#readTail(since));
    for (let lost = 1; ; ) {
      const event = reservation(id, tail, count);
      try {
        const { revision } = await this.#log.append(STREAM, tail.revision, [event], { since });
        this.#tail = { revision, hash: event.metadata['hash'] as string, next: tail.next + count };
        return tail.next;
      } catch (error) {
        this.#tail = undefined;
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
      await pause(lost);
      const shown = await this.#readTail(since);
      if (isBeyond(shown.revision, tail.revision)) {
        if (retries.isOver) throw outrun(lost, tail);
        lost += 1;
        tail = shown;
      } else await retries.pause(UNEXPLAINED);
    }
  }

  async #readTail(since: number): Promise<Tail> {
    const last = await lastEvent(this.#log, STREAM, since);
    if (!last) return { revision: 'none', hash: null, next: 1 };
    const { first, count } = last.data as { first?: unknown; count?: unknown };
    if (!isNatural(first) || !isNatural(count)) throw foreign(last);
    return { revision: last.revision, hash: chainHash(last), next: first + count };
  }
}

type Tail = { readonly revision: ExpectedRevision; readonly hash: string | null; readonly next: number };

/** A little longer each time, and never in step with other nodes. */
function pause(lost: number): Promise<void> {
  return clock.sleep(random.fraction() * Math.max(10, lost / 2));
}

function outrun(lost: number, { revision }: Tail): EventLogUnavailable {
  return new EventLogUnavailable(
    `Could not reserve a deposit id: ${lost} appends to ${STREAM} conflicted with other writers (last expected revision ${revision}).`,
  );
}

/** An id that was guessed behind it might be that of a deposit already. */
function foreign({ type, revision }: RecordedEvent): Error {
  return new Error(
    `No deposit gets an id: the last event of ${STREAM} (${type} at revision ${revision}) is no reservation of ids, so it is not of this service.`,
  );
}

function isNatural(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function reservation(id: string, tail: Tail, count: number): NewEvent {
  const metadata = { schemaVersion: 1, occurredAt: clock.date().toISOString() };
  const event = { id, type: 'DepositIdsReserved', data: { first: tail.next, count }, metadata };
  return sealAfter(STREAM, tail.revision, tail.hash, [event])[0] as NewEvent;
}
