import {
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  lastEvent,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../../event-log/event-log.ts';
import { chainHash, sealAfter } from '../../event-log/integrity/hash-chain.ts';
import { clock } from '../../tools/clock.ts';
import { random } from '../../tools/random.ts';
import { isBeyond, OutageRetries, type RetryLimits } from '../outage-retries.ts';

const STREAM = 'ids-deposit';
const UNEXPLAINED = `Could not reserve a deposit id: the append to ${STREAM} was rejected, and no read shows another event`;

/** Reserves ranges of deposit ids in the event log, one reservation at a time. */
export class DepositIdReservations {
  readonly #log: EventLog;
  readonly #limits: RetryLimits;
  #head: StreamHead | undefined;

  constructor(log: EventLog, limits: RetryLimits) {
    this.#log = log;
    this.#limits = limits;
  }

  /**
   * Reserves `count` ids for requests, the latest of which began at `since`. Resolves to the first id.
   * @throws {EventLogUnavailable} the log accepts no reservation within the time limit.
   */
  async reserve(count: number, since: number): Promise<number> {
    const id = random.uuid();
    const retries = new OutageRetries(this.#limits, since);
    let tail = this.#head ?? (await this.#readHead(since));
    for (let lost = 1; ; ) {
      const event = reservation(id, tail, count);
      try {
        const { revision } = await this.#log.append(STREAM, tail.revision, [event], { since });
        this.#head = { revision, hash: event.metadata['hash'] as string, next: tail.next + count };
        return tail.next;
      } catch (error) {
        this.#head = undefined;
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
      await pause(lost);
      const shown = await this.#readHead(since);
      if (isBeyond(shown.revision, tail.revision)) {
        if (retries.isOver) throw idConflictError(lost, tail);
        lost += 1;
        tail = shown;
      } else await retries.pause(UNEXPLAINED);
    }
  }

  async #readHead(since: number): Promise<StreamHead> {
    const last = await lastEvent(this.#log, STREAM, since);
    if (!last) return { revision: 'none', hash: null, next: 1 };
    const { first, count } = last.data as { first?: unknown; count?: unknown };
    if (!isNatural(first) || !isNatural(count)) throw unexpectedEventError(last);
    return { revision: last.revision, hash: chainHash(last), next: first + count };
  }
}

type StreamHead = {
  readonly revision: ExpectedRevision;
  readonly hash: string | null;
  readonly next: number;
};

/** Sleeps a random time, which grows with the attempts, so that nodes do not stay in step. */
function pause(lost: number): Promise<void> {
  return clock.sleep(random.fraction() * Math.max(10, lost / 2));
}

function idConflictError(lost: number, { revision }: StreamHead): EventLogUnavailable {
  return new EventLogUnavailable(
    `Could not reserve a deposit id: ${lost} appends to ${STREAM} conflicted with other writers (last expected revision ${revision}).`,
  );
}

/** Returns the error for an event of another type. An id guessed after it might already belong to a deposit. */
function unexpectedEventError({ type, revision }: RecordedEvent): Error {
  return new Error(
    `No deposit gets an id: the last event of ${STREAM} (${type} at revision ${revision}) is no reservation of ids, so it is not of this service.`,
  );
}

function isNatural(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function reservation(id: string, tail: StreamHead, count: number): NewEvent {
  const metadata = { schemaVersion: 1, occurredAt: clock.date().toISOString() };
  const event = { id, type: 'DepositIdsReserved', data: { first: tail.next, count }, metadata };
  return sealAfter(STREAM, tail.revision, tail.hash, [event])[0] as NewEvent;
}
