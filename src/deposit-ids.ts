import { DepositIdReservations } from './deposit-id-reservations.ts';
import { type EventLog, EventLogUnavailable } from './event-log/event-log.ts';
import { RETRY_LIMITS, type RetryLimits } from './outage-retries.ts';
import { clock } from './tools/clock.ts';

/** Ids that are reserved ahead at most, and how long they may be handed out, in milliseconds. */
const [MOST_AHEAD, KEPT] = [64, 100];

/**
 * Hands out deposit ids, unique on any number of nodes: an id belongs to whoever appended its reservation at
 * the expected revision of the one stream of ids. All that wait at the same time share an append; while many go on
 * coming, some are reserved ahead, and they need not wait at all. Each request has a time limit of its own: one that
 * comes while a reservation fails is part of the next reservation.
 * An id that was reserved for a request that then fails, or for none that came, is never used.
 */
export class DepositIds {
  readonly #reservations: DepositIdReservations;
  readonly #limits: RetryLimits;
  #waiting: Waiting[] = [];
  #ahead: Range = { next: 0, end: 0, until: 0 };
  #reserving = false;
  /** Asked for since the start. */
  #asked = 0;
  /** Asked for while the last two reservations were under way. */
  #demand: readonly [number, number] = [0, 0];

  constructor(log: EventLog, limits: RetryLimits = RETRY_LIMITS) {
    this.#reservations = new DepositIdReservations(log, limits);
    this.#limits = limits;
  }

  /**
   * The next id, from 1.
   * @param since when the request began that asks for it, by `clock.monotonic()`.
   * @throws {EventLogUnavailable} at the latest when the time limit of the request is over.
   */
  next(since = clock.monotonic()): Promise<number> {
    this.#asked += 1;
    const reserved = this.#takeAhead();
    const id = reserved ?? this.#wait(since);
    const isRunningOut = this.#left < (2 * this.#wantedAhead) / 3;
    if (!this.#reserving && (reserved === undefined || isRunningOut)) void this.#reserveWaiting();
    return Promise.resolve(id);
  }

  /**
   * None for who comes alone, or once with many. Otherwise three times what came during one of the last two
   * reservations: what comes, comes in groups, and one group more must not have to wait.
   */
  get #wantedAhead(): number {
    return Math.min(...this.#demand) === 0 ? 0 : Math.min(3 * Math.max(...this.#demand), MOST_AHEAD);
  }

  /** Of those that were reserved ahead. */
  get #left(): number {
    return clock.monotonic() > this.#ahead.until ? 0 : this.#ahead.end - this.#ahead.next;
  }

  #wait(since: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const { timeLimit } = this.#limits;
    const end = (): void => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(noIdInTime(timeLimit));
    };
    const timer = clock.setTimeout(end, since + timeLimit - clock.monotonic()).unref();
    const waiting: Waiting = {
      since,
      resolve: (id) => {
        clock.clearTimeout(timer);
        resolve(id);
      },
      reject: (error) => {
        clock.clearTimeout(timer);
        reject(error);
      },
    };
    this.#waiting.push(waiting);
    return promise;
  }

  #takeAhead(): number | undefined {
    if (this.#left === 0) return undefined;
    const { next } = this.#ahead;
    this.#ahead = { ...this.#ahead, next: next + 1 };
    return next;
  }

  #serveAhead(): void {
    while (this.#waiting.length > 0) {
      const id = this.#takeAhead();
      if (id === undefined) return;
      this.#waiting.shift()?.resolve(id);
    }
  }

  #keep(first: number, count: number): void {
    const { next, end } = this.#ahead;
    this.#ahead = {
      next: end === first ? next : first, // behind another node's ids, what was left goes unused
      end: first + count,
      until: clock.monotonic() + KEPT,
    };
  }

  async #reserveWaiting(): Promise<void> {
    this.#reserving = true;
    do {
      const [served, asked] = [this.#waiting, this.#asked];
      const ahead = Math.max(0, this.#wantedAhead - this.#left);
      this.#waiting = [];
      try {
        const first = await this.#reservations.reserve(served.length + ahead, latest(served));
        served.forEach(({ resolve }, index) => resolve(first + index));
        this.#keep(first + served.length, ahead);
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
      this.#demand = [this.#demand[1], this.#asked - asked];
      this.#serveAhead();
    } while (this.#waiting.length > 0);
    this.#reserving = false;
  }
}

type Waiting = {
  /** When the request began, by `clock.monotonic()`. */
  readonly since: number;
  readonly resolve: (id: number) => void;
  readonly reject: (error: unknown) => void;
};
type Range = { readonly next: number; readonly end: number; readonly until: number };

/** When the last of the requests began. */
function latest(served: readonly Waiting[]): number {
  return served.length === 0 ? clock.monotonic() : Math.max(...served.map(({ since }) => since));
}

function noIdInTime(timeLimit: number): EventLogUnavailable {
  return new EventLogUnavailable(`Could not reserve a deposit id within ${timeLimit / 1000} s.`);
}
