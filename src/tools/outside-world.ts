import { AsyncLocalStorage } from 'node:async_hooks';
import type synchronous from 'node:fs';
import type promised from 'node:fs/promises';
import type http from 'node:http';
import type { Worker, WorkerOptions } from 'node:worker_threads';

/** Time and timers. The timers have the names and arguments of those in Node. */
export type Clock = {
  /** Returns milliseconds since 1970; they jump when the clock of the host is set. */
  now(): number;
  date(): Date;
  /** Returns milliseconds that never run backwards, from an arbitrary start of this process. */
  monotonic(): number;
  setTimeout<Args extends unknown[]>(
    work: (...args: Args) => void,
    ms?: number,
    ...args: Args
  ): NodeJS.Timeout;
  setInterval(work: () => void, ms: number): NodeJS.Timeout;
  setImmediate(work: () => void): NodeJS.Immediate;
  clearTimeout(timer: NodeJS.Timeout | undefined): void;
  clearInterval(timer: NodeJS.Timeout | undefined): void;
  /**
   * Resolves after this number of milliseconds.
   * @throws {AbortError} when the signal aborts before.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves after pending I/O had its turn. */
  nextTurn(): Promise<void>;
  /** Returns a signal that aborts with a `TimeoutError`; it does not keep the process alive. */
  timeoutSignal(ms: number): AbortSignal;
};

export type Randomness = {
  /** Returns a number from 0 to 1, exclusive; not suitable for secrets. */
  fraction(): number;
  uuid(): string;
  bytes(count: number): Buffer;
};

/** The functions of `node:fs/promises`, and those of `node:fs` that have other names: synchronous ones and streams. */
export type Files = typeof promised & Omit<typeof synchronous, keyof typeof promised>;

export type Workers = {
  start(program: URL, options?: WorkerOptions): Worker;
};

/** Requests of the service to other servers. */
export type OutgoingRequests = {
  agent(tls: boolean, options: http.AgentOptions): http.Agent;
  /** Begins a request; `protocol` decides whether it uses TLS. */
  request(options: http.RequestOptions): http.ClientRequest;
  fetch(input: URL, init?: RequestInit): Promise<Response>;
};

/** All interfaces of a node besides its own memory. */
export type OutsideWorld = {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly files: Files;
  readonly workers: Workers;
  readonly outgoing: OutgoingRequests;
};

const worlds = new AsyncLocalStorage<Partial<OutsideWorld>>();

/** Runs work, and all that it starts, as a node with a separate outside world; omitted parts are those of Node. */
export function runInWorld<Result>(world: Partial<OutsideWorld>, work: () => Result): Result {
  return worlds.run(world, work);
}

/**
 * Returns a part of the outside world of the calling node: that of Node, unless the node replaces it. Each function is
 * looked up at its call.
 */
export function partOfWorld<Part extends keyof OutsideWorld>(
  part: Part,
  ofNode: OutsideWorld[Part],
): OutsideWorld[Part] {
  const delegated = Object.entries(ofNode).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value];
    const own = () =>
      (worlds.getStore()?.[part] ?? ofNode) as Record<string, (...args: unknown[]) => unknown>;
    return [name, (...args: unknown[]) => own()[name]?.(...args)];
  });
  return Object.fromEntries(delegated) as OutsideWorld[Part]; // with the same names
}
