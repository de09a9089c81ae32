import type { Delivery } from '../event-log/deliveries.ts';
import type { Slots } from './slots.ts';

/** An event that was begun so often and never done with is not worked on any more. */
const MAX_BEGUN = 10;

/** Its workers died of it, or so it seems: it is not tried again before an operator has looked. */
export class DeadlyEvent extends Error {
  override readonly name = 'DeadlyEvent';

  constructor(begun: number) {
    super(`It was begun ${begun} times and never done with: the service may have died of it each time.`);
  }
}

/** The beginning of the work could not be counted, so it has not begun. */
class NotBegun extends Error {
  override readonly name = 'NotBegun';
  readonly code = 'NOT_BEGUN';
}

/** Runs work once: resolves when it has ended, and rejects as it does. */
export type TryOnce = (work: () => Promise<void>) => Promise<void>;

export type CountedTriesOptions = {
  readonly delivery: Delivery;
  readonly slots: Slots;
  /** The client that owns the deposit of the event. */
  readonly owner: string;
  /** Nothing begins once it has aborted. */
  readonly signal: AbortSignal;
};

/**
 * Handles one delivery. Each try of the work has a slot of its own, so that the pause between two leaves it to others.
 * Work that has to be alone is so until it is acknowledged: a death of the process counts for all that has begun.
 */
export class CountedTries {
  readonly #options: CountedTriesOptions;
  #begun: number | undefined;

  constructor(options: CountedTriesOptions) {
    this.#options = options;
  }

  get haveBegun(): boolean {
    return this.#begun !== undefined;
  }

  /** Acknowledges the delivery when `handle` has resolved. @throws what `handle` throws */
  async run(handle: (tryOnce: TryOnce) => Promise<void>): Promise<void> {
    const { slots, owner, delivery } = this.#options;
    let alone: Promise<void> | undefined;
    await handle((work) =>
      slots.run(owner, async () => {
        if (await this.#begin('beside others')) return work();
        // It is in line to be alone before its slot is free: else another would begin there, which it had to wait for.
        alone = slots.runAlone(() => this.#runAlone(handle));
        alone.catch(() => undefined); // after a stop it is awaited no longer
      }),
    );
    await (alone ?? delivery.acknowledge());
  }

  async #runAlone(handle: (tryOnce: TryOnce) => Promise<void>): Promise<void> {
    await handle(async (work) => {
      if (await this.#begin('alone')) await work();
    });
    await this.#options.delivery.acknowledge();
  }

  /**
   * Counts the beginning of the first try. Resolves to false when the work has to be alone.
   * @throws {DeadlyEvent} @throws {NotBegun} @throws the reason of the signal
   */
  async #begin(how: 'alone' | 'beside others'): Promise<boolean> {
    this.#options.signal.throwIfAborted();
    this.#begun ??= await this.#count(how);
    if (this.#begun === undefined) return false;
    if (this.#begun > MAX_BEGUN) throw new DeadlyEvent(this.#begun - 1);
    return true;
  }

  async #count(how: 'alone' | 'beside others'): Promise<number | undefined> {
    try {
      return await this.#options.delivery.begin(how);
    } catch (cause) {
      const { message } = cause as Error;
      throw new NotBegun(`The beginning of the work could not be counted: ${message}`, { cause });
    }
  }
}
