import { type Pauses, pauseAfter } from '../growing-pause.ts';
import { clock } from '../tools/clock.ts';
import type { Failure, Outcome } from './postman.ts';

/** No pause is longer, in milliseconds, neither our own with its jitter nor one that a receiver asks for. */
export const LONGEST_WAIT = 7_200_000;
/** Deliveries to one receiver at the same time. */
const LANES = 8;
/** So many may wait for a lane, and so long, in milliseconds. */
const MAX_WAITING = 16;
const WAITING_PATIENCE = 2000;
/** Refusals one after the other, with nothing taken in between, after which the receiver is left alone for a while. */
const MAX_REFUSALS = 5;

/**
 * The way to one receiver. When nobody answers, or everything is refused, it is closed for a pause that grows each
 * time; after the pause one delivery tries it, and opens it for all or closes it again.
 */
export class ReceiverLine {
  readonly #pauses: Pauses;
  readonly #waiting = new Set<() => void>();
  #underWay = 0;
  #refusals = 0;
  #closings = 0;
  #closedUntil = 0;
  #closedAt = '';
  #reason = '';

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  /** Deliveries that may begin now. */
  get room(): number {
    if (clock.monotonic() < this.#closedUntil) return 0;
    return Math.max(0, (this.#closings > 0 ? 1 : LANES) - this.#underWay);
  }

  /** Nothing is remembered of it that would be missed. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#closings === 0 && this.#refusals === 0 && this.#waiting.size === 0;
  }

  /** Takes a place, if there is one now; {@link leave} gives it back. */
  take(): boolean {
    if (this.room === 0) return false;
    this.#underWay += 1;
    return true;
  }

  /** The same, but waits a little for others to finish; resolves to why there is no place, if there is none. */
  async takeSoon(): Promise<string | undefined> {
    const deadline = clock.monotonic() + WAITING_PATIENCE;
    while (!this.take()) {
      if (this.#closings > 0) return this.#reason;
      const patience = deadline - clock.monotonic();
      if (patience <= 0 || this.#waiting.size >= MAX_WAITING) return 'The receiver is slower than the news.';
      await this.#change(patience);
    }
    return undefined;
  }

  /** Gives the place back. */
  leave(): void {
    this.#underWay -= 1;
    for (const wake of [...this.#waiting].slice(0, this.#closings > 0 ? MAX_WAITING : 1)) {
      this.#waiting.delete(wake);
      wake();
    }
  }

  /** On a place that was taken; what comes of it tells how the receiver is. */
  async deliver(send: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await send();
    if (outcome.taken) this.#opened();
    else this.#failed(outcome);
    return outcome;
  }

  /** An operator wanted it to be tried at this time, RFC 3339. */
  reopen(wantedAt: string): void {
    if (this.#closings > 0 && wantedAt > this.#closedAt) this.#closedUntil = 0;
  }

  #opened(): void {
    this.#refusals = 0;
    this.#closings = 0;
    this.#closedUntil = 0;
  }

  #failed({ reason, isUnreachable, retryAfter }: Failure): void {
    this.#refusals += 1;
    const isClosed = clock.monotonic() < this.#closedUntil; // by another that was under way at the same time
    if (isClosed || (!isUnreachable && this.#refusals < MAX_REFUSALS && this.#closings === 0)) return;
    this.#closings += 1;
    this.#reason = reason;
    this.#closedAt = clock.date().toISOString();
    this.#closedUntil = clock.monotonic() + Math.max(pauseAfter(this.#closings, this.#pauses), retryAfter);
  }

  /** Resolves when a delivery has ended, at the latest after so many milliseconds. */
  async #change(patience: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = clock.setTimeout(wake, patience);
    this.#waiting.add(wake);
    await promise;
    this.#waiting.delete(wake);
    clock.clearTimeout(timer);
  }
}

/**
 * Milliseconds until what has failed so many times is tried again. When nobody answers there is none: it is the line that
 * pauses, for all deposits.
 */
export function pauseOf(
  { isUnreachable, retryAfter }: Pick<Failure, 'isUnreachable' | 'retryAfter'>,
  failures: number,
  pauses: Pauses,
): number {
  return isUnreachable ? 0 : Math.max(pauseAfter(failures, pauses), retryAfter);
}
