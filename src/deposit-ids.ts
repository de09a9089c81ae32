import { randomUUID } from 'node:crypto';
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

const STREAM = 'ids-deposit';

/** Nodes that create at the same time are each other's others, so that it takes many to be sure. */
const MAX_ATTEMPTS = 100;

/** Ids that are reserved ahead at most, and how long they may be handed out, in milliseconds. */
const [MOST_AHEAD, KEPT] = [64, 100];

/**
 * Hands out deposit ids, unique on any number of nodes: an id belongs to whoever appended its reservation at
 * the expected revision of the one stream of ids. All that wait at the same time share an append; while many go on
 * coming, some are reserved ahead, and they need not wait at all.
 * An id that was reserved for a request that then fails, or for none that came, is never used.
 */
export class DepositIds {
  readonly #log: EventLog;
  #waiting: ((ids: Promise<number>) => void)[] = [];
  #ahead: Range = { next: 0, end: 0, until: 0 };
  #reserving = false;
  /** Asked for since the start. */
  #asked = 0;
  /** Asked for while the last two reservations were under way. */
  #demand: readonly [number, number] = [0, 0];
  #tail: Tail | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** The next id, from 1. */
  next(): Promise<number> {
    this.#asked += 1;
    const reserved = this.#takeAhead();
    const id = reserved ?? new Promise<number>((resolve) => this.#waiting.push(resolve));
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
    return performance.now() > this.#ahead.until ? 0 : this.#ahead.end - this.#ahead.next;
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
      this.#waiting.shift()?.(Promise.resolve(id));
    }
  }

  #keep(first: number, count: number): void {
    const { next, end } = this.#ahead;
    this.#ahead = {
      next: end === first ? next : first, // behind another node's ids, what was left goes unused
      end: first + count,
      until: performance.now() + KEPT,
    };
  }

  async #reserveWaiting(): Promise<void> {
    this.#reserving = true;
    do {
      const [served, asked] = [this.#waiting, this.#asked];
      const ahead = Math.max(0, this.#wantedAhead - this.#left);
      this.#waiting = [];
      const first = this.#reserve(served.length + ahead);
      served.forEach((resolve, index) => resolve(first.then((id) => id + index)));
      const failed = await first.then(
        (id) => {
          this.#keep(id + served.length, ahead);
          return false;
        },
        () => true,
      );
      this.#demand = [this.#demand[1], this.#asked - asked];
      this.#serveAhead();
      // Each of the served gets the error. Who came meanwhile would only wait as long again, for the same.
      if (failed) for (const resolve of this.#waiting.splice(0)) resolve(first);
    } while (this.#waiting.length > 0);
    this.#reserving = false;
  }

  /** Reserves `count` ids and resolves to the first of them. */
  async #reserve(count: number): Promise<number> {
    const id = randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      const tail = this.#tail ?? (await this.#readTail());
      const event = reservation(id, tail, count);
      try {
        const { revision } = await this.#log.append(STREAM, tail.revision, [event]);
        this.#tail = { revision, hash: event.metadata['hash'] as string, next: tail.next + count };
        return tail.next;
      } catch (error) {
        this.#tail = undefined;
        if (!(error instanceof WrongExpectedRevision)) throw error;
        if (attempt === MAX_ATTEMPTS) throw outrun(tail);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.max(10, attempt / 2)));
      }
    }
  }

  async #readTail(): Promise<Tail> {
    const last = await lastEvent(this.#log, STREAM);
    if (!last) return { revision: 'none', hash: null, next: 1 };
    const { first, count } = last.data as { first?: unknown; count?: unknown };
    if (!isNatural(first) || !isNatural(count)) throw foreign(last);
    return { revision: last.revision, hash: chainHash(last), next: first + count };
  }
}

type Range = { readonly next: number; readonly end: number; readonly until: number };
type Tail = { readonly revision: ExpectedRevision; readonly hash: string | null; readonly next: number };

function outrun({ revision }: Tail): EventLogUnavailable {
  return new EventLogUnavailable(
    `${STREAM} refused ${MAX_ATTEMPTS} appends, the last one behind revision ${revision}: others were first each time, or wrote there what cannot be read.`,
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
  const metadata = { schemaVersion: 1, occurredAt: new Date().toISOString() };
  const event = { id, type: 'DepositIdsReserved', data: { first: tail.next, count }, metadata };
  return sealAfter(STREAM, tail.revision, tail.hash, [event])[0] as NewEvent;
}
