import { type RecordedEvent, StaleRead } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { messageOf } from '../tools/coded-error.ts';
import { AbortGate } from '../tools/concurrency/abort-gate.ts';
import { Backoff } from '../tools/concurrency/backoff.ts';
import { isTransient } from '../tools/concurrency/transient-faults.ts';
import type { Logger } from '../tools/logger.ts';

type RepeatedWorkOptions = {
  readonly reactor: string;
  readonly logger: Pick<Logger, 'warn'>;
  /** Milliseconds before the first retry; doubled for each further one, up to 100 times this value. */
  readonly firstPause: number;
  /** Ends all work between two attempts. */
  readonly signal: AbortSignal;
};

/** The error of the last attempt, and the number of all attempts. */
export type Failure = { readonly error: unknown; readonly tries: number };

/** Repeats the work of one reactor on an event while it fails, and remembers the last failure. */
export class RepeatedWork {
  readonly #options: RepeatedWorkOptions;
  readonly #abortGate = new AbortGate();
  #failures = 0;
  #lastError: { readonly at: string; readonly stream: string; readonly message: string } | null = null;

  constructor(options: RepeatedWorkOptions) {
    this.#options = options;
  }

  /** Number of failed attempts since the start. */
  get failures(): number {
    return this.#failures;
  }

  get lastError() {
    return this.#lastError;
  }

  /** Stops waiting for all running work. */
  abort(): void {
    this.#abortGate.abort(this.#options.signal.reason);
  }

  /**
   * Repeats the work until it succeeds, or until `tries(lastError)` attempts have failed; then returns the failure.
   * Transient errors do not count, except stale reads, which count by themselves.
   * @throws the reason of the signal
   */
  async run(
    event: RecordedEvent,
    work: () => Promise<void>,
    tries: (error: unknown) => number,
  ): Promise<Failure | undefined> {
    const { signal, firstPause } = this.#options;
    const backoff = new Backoff({ firstPause, longestPause: firstPause * 100 });
    let [faults, staleReads] = [0, 0];
    for (let tried = 1; ; tried += 1) {
      signal.throwIfAborted();
      try {
        await this.#abortGate.race(work());
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        const isStale = error instanceof StaleRead;
        if (isStale) staleReads += 1;
        else if (!isTransient(error)) faults += 1;
        const failures = isStale ? staleReads : faults;
        this.#warn(event, error, failures);
        if ((isStale || !isTransient(error)) && failures >= tries(error)) return { error, tries: tried };
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  #warn({ stream, type, position }: RecordedEvent, err: unknown, failures: number): void {
    const { logger, reactor } = this.#options;
    this.#failures += 1;
    const message = messageOf(err);
    this.#lastError = { at: clock.date().toISOString(), stream, message };
    logger.warn({ reactor, stream, type, position, failures, err }, 'reaction failed');
  }
}
