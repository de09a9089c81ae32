import type { Position } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { isBefore } from './apply-events.ts';

/** How far somebody has got in the log, also for those who wait for it. */
export class ReachedPosition {
  readonly #waiters = new Set<Waiter>();
  #position: Position | undefined;

  get position(): Position | undefined {
    return this.#position;
  }

  /** Never back. */
  moveTo(position: Position | undefined): void {
    if (isBefore(this.#position, position)) this.#position = position;
    for (const waiter of this.#waiters) {
      if (!isBefore(this.#position, waiter.position)) waiter.resolve(true);
    }
  }

  /** Resolves to `true` once it has passed `position`, to `false` when that takes more than `patience` ms. */
  async passed(position: Position, patience: number): Promise<boolean> {
    if (!isBefore(this.#position, position)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { position, resolve };
    this.#waiters.add(waiter);
    const timer = clock.setTimeout(() => resolve(false), patience);
    try {
      return await promise;
    } finally {
      clock.clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }
}

type Waiter = { readonly position: Position; readonly resolve: (passed: boolean) => void };
