import type { Delivery } from '../event-log/consumer-groups/deliveries.ts';
import { errorsOfCode } from '../tools/coded-error.ts';
import type { FairLimiter } from './fair-limiter.ts';

/** An event whose processing was started this often and never completed is given up. */
const MAX_STARTS = 10;

/**
 * A poison event: its processing probably crashed the service each time. It is not retried until an operator has looked
 * at it.
 */
export class DeadlyEvent extends Error {
  override readonly name = 'DeadlyEvent';
  readonly begun: number;

  constructor(begun: number) {
    super(`Parked after ${begun} attempts that never completed; the service may have crashed each time.`);
    this.begun = begun;
  }
}

/** The start of the work could not be counted, so the work has not started. */
class NotBegun extends errorsOfCode('NOT_BEGUN') {}

/** Runs the work once; settles as the work does. */
export type TryOnce = (work: () => Promise<void>) => Promise<void>;

type CountedTriesOptions = {
  readonly delivery: Delivery;
  readonly limiter: FairLimiter;
  readonly slots: number;
  /** The client that owns the deposit of the event. */
  readonly owner: string;
  /** Once aborted, no work starts. */
  readonly signal: AbortSignal;
};

/**
 * Processes one delivery. Each attempt acquires a slot of its own, so that other events use it during the pause before
 * the next attempt. Exclusive work stays exclusive until it is acknowledged: a crash of the process counts for all work
 * that has started.
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

  /** Acknowledges the delivery once `handle` has resolved. @throws what `handle` throws */
  async run(handle: (tryOnce: TryOnce) => Promise<void>): Promise<void> {
    const { limiter, slots, owner, delivery } = this.#options;
    let alone: Promise<void> | undefined;
    await handle((work) => {
      const begun = async (): Promise<void> => {
        if (await this.#begin('beside others')) return work();
        // Queues for exclusive access before its slot is released: otherwise another event would start there, and this
        // one would wait for it.
        alone = limiter.runExclusive((isAlone) => this.#runAlone(handle, isAlone));
        alone.catch(() => undefined); // after a stop the promise is no longer awaited
      };
      return limiter.run(owner, begun, slots);
    });
    await (alone ?? delivery.acknowledge());
  }

  async #runAlone(handle: (tryOnce: TryOnce) => Promise<void>, isAlone: () => boolean): Promise<void> {
    const { limiter, slots, owner, delivery } = this.#options;
    await handle(async (work) => {
      if (!(await this.#begin('alone'))) return;
      // Attempts after the time in which it is alone are like those of others: the fault may last.
      await (isAlone() ? work() : limiter.run(owner, work, slots));
    });
    await delivery.acknowledge();
  }

  /**
   * Counts the start of the first attempt. Resolves to false if the work must run exclusively.
   * @throws {DeadlyEvent} @throws {NotBegun} @throws the reason of the signal
   */
  async #begin(how: 'alone' | 'beside others'): Promise<boolean> {
    this.#options.signal.throwIfAborted();
    this.#begun ??= await this.#count(how);
    if (this.#begun === undefined) return false;
    if (this.#begun > MAX_STARTS) throw new DeadlyEvent(this.#begun - 1);
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
