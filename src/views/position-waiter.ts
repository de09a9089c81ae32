import type { Position } from '../event-log/event-log.ts';
import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import { isBefore } from './apply-events.ts';

/** A position in the log that only moves forward, and that callers can wait for. */
export class PositionWaiter {
  readonly #waiters = new Set<Waiter>();
  #position: Position | undefined;

  get position(): Position | undefined {
    return this.#position;
  }

  /** Moves the position forward; a lower position is ignored. */
  moveTo(position: Position | undefined): void {
    if (isBefore(this.#position, position)) this.#position = position;
    for (const waiter of this.#waiters) {
      if (!isBefore(this.#position, waiter.position)) waiter.resolve(true);
    }
  }

  /** Resolves to `true` once the position has reached `position`, to `false` after `timeoutMs`. */
  async passed(position: Position, timeoutMs: number): Promise<boolean> {
    if (!isBefore(this.#position, position)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { position, resolve };
    this.#waiters.add(waiter);
    const passed = await withTimeout(promise, timeoutMs);
    this.#waiters.delete(waiter);
    return passed ?? false;
  }
}

type Waiter = { readonly position: Position; readonly resolve: (passed: boolean) => void };
