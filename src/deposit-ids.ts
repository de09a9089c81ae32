import { randomUUID } from 'node:crypto';
import {
  type EventLog,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from './event-log/event-log.ts';
import { chainHash, seal } from './event-log/hash-chain.ts';

const STREAM = 'ids-deposit';

/**
 * Hands out deposit ids, unique on any number of nodes: an id belongs to whoever appended its reservation at
 * the expected revision of the one stream of ids. All that wait at the same time share an append.
 * An id reserved for a request that then fails is never used.
 */
export class DepositIds {
  readonly #log: EventLog;
  #waiting: ((ids: Promise<number>) => void)[] = [];
  #reserving = false;
  #tail: Tail | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** The next id, from 1. */
  next(): Promise<number> {
    const id = new Promise<number>((resolve) => this.#waiting.push(resolve));
    if (!this.#reserving) void this.#reserveWaiting();
    return id;
  }

  async #reserveWaiting(): Promise<void> {
    this.#reserving = true;
    while (this.#waiting.length > 0) {
      const served = this.#waiting;
      this.#waiting = [];
      const first = this.#reserve(served.length);
      served.forEach((resolve, index) => resolve(first.then((id) => id + index)));
      const failed = await first.then(
        () => false,
        () => true,
      );
      // Each of the served gets the error. Who came meanwhile would only wait as long again, for the same.
      if (failed) for (const resolve of this.#waiting.splice(0)) resolve(first);
    }
    this.#reserving = false;
  }

  /** Reserves `count` ids and resolves to the first of them. */
  async #reserve(count: number): Promise<number> {
    const id = randomUUID();
    for (;;) {
      const tail = this.#tail ?? (await this.#readTail());
      const event = reservation(id, tail, count);
      try {
        const { revision } = await this.#log.append(STREAM, tail.revision, [event]);
        this.#tail = { revision, hash: event.metadata['hash'] as string, next: tail.next + count };
        return tail.next;
      } catch (error) {
        this.#tail = undefined;
        if (!(error instanceof WrongExpectedRevision)) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      }
    }
  }

  async #readTail(): Promise<Tail> {
    for await (const last of this.#log.readStream(STREAM, { backwards: true, limit: 1 })) {
      const { first, count } = last.data as { first: number; count: number };
      return { revision: last.revision, hash: chainHash(last), next: first + count };
    }
    return { revision: 'none', hash: null, next: 1 };
  }
}

type Tail = { readonly revision: ExpectedRevision; readonly hash: string | null; readonly next: number };

function reservation(id: string, tail: Tail, count: number): NewEvent {
  const revision = tail.revision === 'none' ? 0 : tail.revision + 1;
  const metadata = { schemaVersion: 1, occurredAt: new Date().toISOString() };
  const event = { id, type: 'DepositIdsReserved', data: { first: tail.next, count }, metadata };
  return seal(STREAM, revision, tail.hash, [event])[0] as NewEvent;
}
