import {
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  lastEvent,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../event-log/event-log.ts';
import { chainHash, sealAfter } from '../event-log/integrity/hash-chain.ts';
import {
  isBeyond,
  OutageRetries,
  pauseAfterLostRace,
  RETRY_LIMITS,
  type RetryLimits,
} from '../event-log/outage-retries.ts';
import { clock } from '../tools/clock.ts';
import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import { random } from '../tools/random.ts';

const MAX_RESERVED_AHEAD = 64;
/** A node that was idle must not give a new deposit an id far below those of other nodes (decision 8). */
const RESERVATION_TTL_MS = 100;
/** Ids are reserved for the requests of this time, so that most are used before they expire. */
const RESERVED_FOR_MS = 75;
/** Reservations in a row without a request meanwhile, after which requests count as coming one after the other. */
const QUIET_RESERVATIONS = 8;

/**
 * Allocates deposit ids, unique on any number of nodes. An id belongs to the node whose reservation was appended at the
 * expected revision of the one stream of ids.
 * All requests that wait at the same time share an append. Under load, some ids are reserved ahead, so that requests
 * need not wait.
 * Each request has its own time limit. A request that arrives while a reservation fails is part of the next
 * reservation.
 * An id that was reserved for a request that failed, or that no request used, is never used again.
 */
export class DepositIdAllocator {
  readonly #reservations: DepositIdReservations;
  readonly #limits: RetryLimits;
  #waiting: Waiting[] = [];
  #reserved: Range = { next: 0, end: 0, until: 0 };
  #reserving = false;
  readonly #rate = new RequestRate();
  /** Numbers of ids requested during each of the last two reservations. */
  #demand: readonly [number, number] = [0, 0];
  /** Number of the last reservations in a row during which no id was requested. */
  #quiet = QUIET_RESERVATIONS;

  constructor(log: EventLog, limits: RetryLimits = RETRY_LIMITS) {
    this.#reservations = new DepositIdReservations(log, limits);
    this.#limits = limits;
  }

  /**
   * Allocates the next id, from 1.
   * @param since when the request for it began, by `clock.monotonic()`.
   * @throws {EventLogUnavailable} at the latest when the time limit of the request is over.
   */
  next(since = clock.monotonic()): Promise<number> {
    this.#rate.count();
    const reserved = this.#takeReserved();
    const id = reserved ?? this.#wait(since);
    const isRunningOut =
      this.#remaining < Math.min((2 * this.#reserveCount) / 3, 2 * Math.max(...this.#demand, 1));
    if (!this.#reserving && (reserved === undefined || isRunningOut)) void this.#reserveWaiting();
    return Promise.resolve(id);
  }

  /**
   * Number of ids to reserve ahead. Zero if requests come one after the other: then ids have no gaps. Otherwise as many
   * as the present rate of requests uses in time, and enough for one more burst.
   */
  get #reserveCount(): number {
    if (this.#quiet >= QUIET_RESERVATIONS) return 0;
    const burst = Math.min(...this.#demand) === 0 ? 0 : 3 * Math.max(...this.#demand);
    return Math.min(Math.max(Math.floor(this.#rate.within(RESERVED_FOR_MS)), burst), MAX_RESERVED_AHEAD);
  }

  /** Number of unused reserved ids. */
  get #remaining(): number {
    return clock.monotonic() > this.#reserved.until ? 0 : this.#reserved.end - this.#reserved.next;
  }

  #wait(since: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiting: Waiting = { since, resolve, reject };
    this.#waiting.push(waiting);
    const { timeLimit } = this.#limits;
    return withTimeout(promise, since + timeLimit - clock.monotonic(), () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      throw timeoutError(timeLimit);
    });
  }

  #takeReserved(): number | undefined {
    if (this.#remaining === 0) return undefined;
    const { next } = this.#reserved;
    this.#reserved = { ...this.#reserved, next: next + 1 };
    return next;
  }

  #serveReserved(): void {
    while (this.#waiting.length > 0) {
      const id = this.#takeReserved();
      if (id === undefined) return;
      this.#waiting.shift()?.resolve(id);
    }
  }

  #addReserved(first: number, count: number): void {
    const { next, end } = this.#reserved;
    this.#reserved = {
      next: end === first ? next : first, // after ids of another node, the rest of the old range stays unused
      end: first + count,
      until: clock.monotonic() + RESERVATION_TTL_MS,
    };
  }

  async #reserveWaiting(): Promise<void> {
    this.#reserving = true;
    do {
      const [served, asked] = [this.#waiting, this.#rate.total];
      const ahead = Math.max(0, this.#reserveCount - this.#remaining);
      if (served.length + ahead === 0) break; // the rate has fallen since the request
      this.#waiting = [];
      try {
        const first = await this.#reservations.reserve(served.length + ahead, latest(served));
        served.forEach(({ resolve }, index) => resolve(first + index));
        this.#addReserved(first + served.length, ahead);
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
      const meanwhile = this.#rate.total - asked;
      this.#demand = [this.#demand[1], meanwhile];
      this.#quiet = meanwhile === 0 ? this.#quiet + 1 : 0;
      this.#serveReserved();
    } while (this.#waiting.length > 0);
    this.#reserving = false;
  }
}

/** Counts requests, and estimates how many come in a time. */
class RequestRate {
  /** Number of requests since the start. */
  total = 0;
  /** The counts, with their times, between which the last full window of requests lies. */
  #from = { at: clock.monotonic(), total: 0 };
  #to = this.#from;

  count(): void {
    this.total += 1;
    const at = clock.monotonic();
    if (at - this.#to.at < RESERVATION_TTL_MS) return;
    this.#from = this.#to;
    this.#to = { at, total: this.total };
  }

  /** Returns how many requests come within this time, at the rate of the last full window; fewer after a pause. */
  within(milliseconds: number): number {
    const elapsed = Math.max(
      this.#to.at - this.#from.at,
      clock.monotonic() - this.#to.at,
      RESERVATION_TTL_MS,
    );
    return ((this.#to.total - this.#from.total) / elapsed) * milliseconds;
  }
}

type Waiting = {
  /** When the request began, by `clock.monotonic()`. */
  readonly since: number;
  readonly resolve: (id: number) => void;
  readonly reject: (error: unknown) => void;
};
type Range = { readonly next: number; readonly end: number; readonly until: number };

/** Returns when the latest of the requests began. */
function latest(served: readonly Waiting[]): number {
  return served.length === 0 ? clock.monotonic() : Math.max(...served.map(({ since }) => since));
}

function timeoutError(timeLimit: number): EventLogUnavailable {
  return new EventLogUnavailable(`Could not reserve a deposit id within ${timeLimit / 1000} s.`);
}

export const IDS = 'ids-deposit';
const UNEXPLAINED = `Could not reserve a deposit id: the append to ${IDS} was rejected, and no read shows another event`;

/** Reserves ranges of deposit ids in the event log, one reservation at a time. */
class DepositIdReservations {
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
    const retries = new OutageRetries(this.#limits, since);
    let tail = this.#head ?? (await this.#readHead(since));
    let event = reservation(tail, count);
    for (let lost = 1; ; ) {
      try {
        const { revision } = await this.#log.append(IDS, tail.revision, [event], { since });
        this.#head = { revision, hash: event.metadata['hash'] as string, next: tail.next + count };
        return tail.next;
      } catch (error) {
        this.#head = undefined;
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
      await pauseAfterLostRace(Math.max(10, lost / 2));
      const shown = await this.#readHead(since);
      if (isBeyond(shown.revision, tail.revision)) {
        if (retries.isOver) throw idConflictError(lost, tail);
        lost += 1;
        tail = shown;
        event = reservation(tail, count); // a new event, since the last one may be what is shown
      } else await retries.pause(UNEXPLAINED);
    }
  }

  async #readHead(since: number): Promise<StreamHead> {
    const last = await lastEvent(this.#log, IDS, { since });
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

function idConflictError(lost: number, { revision }: StreamHead): EventLogUnavailable {
  return new EventLogUnavailable(
    `Could not reserve a deposit id: ${lost} appends to ${IDS} conflicted with other writers (last expected revision ${revision}).`,
  );
}

/** Returns the error for an event of another type. An id guessed after it might already belong to a deposit. */
function unexpectedEventError({ type, revision }: RecordedEvent): Error {
  return new Error(
    `Cannot allocate deposit ids: the last event of ${IDS} is ${type} at revision ${revision}, not DepositIdsReserved.`,
  );
}

function isNatural(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function reservation(tail: StreamHead, count: number): NewEvent {
  const id = random.uuid();
  const metadata = { schemaVersion: 1, occurredAt: clock.date().toISOString() };
  const event = { id, type: 'DepositIdsReserved', data: { first: tail.next, count }, metadata };
  return sealAfter(IDS, tail.revision, tail.hash, [event])[0] as NewEvent;
}
