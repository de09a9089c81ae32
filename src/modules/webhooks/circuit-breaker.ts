import { clock } from '../../tools/clock.ts';
import { type BackoffOptions, backoffDelay } from '../../tools/concurrency/backoff.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Failure, Outcome } from './webhook-client.ts';

/** Maximum pause in milliseconds, for both back-off with jitter and a receiver's Retry-After. */
export const MAX_PAUSE_MS = 7_200_000;
/** Maximum number of concurrent deliveries to one receiver. */
const MAX_CONCURRENT = 8;
/** Limits of waiting deliveries: their number, and milliseconds. */
const MAX_WAITING = 16;
const WAITING_TIMEOUT_MS = 2000;
/** Number of consecutive refusals after which the receiver gets a pause. */
const MAX_REFUSALS = 5;

/**
 * Circuit breaker of one receiver, with a limit on concurrent deliveries. It opens when the receiver is unreachable or
 * refuses everything. The pause grows each time; then one delivery probes the receiver.
 */
export class CircuitBreaker {
  readonly #pauses: BackoffOptions;
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #refusals = 0;
  #trips = 0;
  #openUntil = 0;
  /** Whether the next delivery may begin during the pause, as an operator wants. */
  #isProbeWanted = false;
  #reason = '';

  constructor(pauses: BackoffOptions) {
    this.#pauses = pauses;
  }

  /** Number of deliveries that may begin now. */
  get permits(): number {
    if (this.#isPaused && !this.#isProbeWanted) return 0;
    return Math.max(0, (this.#trips > 0 ? 1 : MAX_CONCURRENT) - this.#running);
  }

  /** True if the breaker is in its initial state and can be dropped. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#trips === 0 && this.#refusals === 0 && this.#waiting.size === 0;
  }

  /** Acquires a permit, if available; {@link release} releases it. */
  tryAcquire(): boolean {
    if (this.permits === 0) return false;
    this.#isProbeWanted = false;
    this.#running += 1;
    return true;
  }

  /**
   * Like {@link tryAcquire}, but waits a little for other deliveries. Resolves to `undefined`, or to the reason why
   * there is no permit.
   */
  async acquire(): Promise<string | undefined> {
    const deadline = clock.monotonic() + WAITING_TIMEOUT_MS;
    while (!this.tryAcquire()) {
      if (this.#trips > 0) return `The receiver is paused since another delivery failed. ${this.#reason}`;
      const timeoutMs = deadline - clock.monotonic();
      if (timeoutMs <= 0 || this.#waiting.size >= MAX_WAITING)
        return 'The receiver is too slow: notifications are queued.';
      await this.#nextRelease(timeoutMs);
    }
    return undefined;
  }

  release(): void {
    this.#running -= 1;
    for (const wake of [...this.#waiting].slice(0, this.#trips > 0 ? MAX_WAITING : 1)) {
      this.#waiting.delete(wake);
      wake();
    }
  }

  /** Delivers with an acquired permit; the outcome changes the state of the breaker. */
  async deliver(send: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await send();
    if (outcome.taken) this.#succeeded();
    else this.#failed(outcome);
    return outcome;
  }

  /** Allows one probe during the pause, at once or after a probe that is in progress. */
  allowProbe(): void {
    this.#isProbeWanted = this.#trips > 0;
  }

  get #isPaused(): boolean {
    return clock.monotonic() < this.#openUntil;
  }

  #succeeded(): void {
    this.#refusals = 0;
    this.#trips = 0;
    this.#openUntil = 0;
    this.#isProbeWanted = false;
  }

  #failed({ reason, isUnreachable, retryAfter }: Failure): void {
    this.#refusals += 1;
    if (!isUnreachable && this.#refusals < MAX_REFUSALS && this.#trips === 0) return;
    // During a pause this was a probe, or began before: only what the receiver asks for counts.
    if (!this.#isPaused) this.#trips += 1;
    const pause = this.#isPaused ? 0 : backoffDelay(this.#trips, this.#pauses);
    this.#reason = reason;
    this.#openUntil = Math.max(this.#openUntil, clock.monotonic() + Math.max(pause, retryAfter));
  }

  /** Resolves when a delivery has ended, or after the timeout in milliseconds. */
  async #nextRelease(timeoutMs: number): Promise<void> {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    this.#waiting.add(wake);
    await withTimeout(promise, timeoutMs);
    this.#waiting.delete(wake);
  }
}

/**
 * Returns the milliseconds until the retry after this number of failures. Returns 0 if the receiver is unreachable:
 * then the circuit breaker pauses all its deposits.
 */
export function retryPause(
  { isUnreachable, retryAfter }: Pick<Failure, 'isUnreachable' | 'retryAfter'>,
  failures: number,
  pauses: BackoffOptions,
): number {
  return isUnreachable ? 0 : Math.max(backoffDelay(failures, pauses), retryAfter);
}
