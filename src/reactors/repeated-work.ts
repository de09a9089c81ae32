import { CutOff } from '../cut-off.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { pauseAfter } from '../growing-pause.ts';
import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { isTransient } from './transient-faults.ts';

export type RepeatedWorkOptions = {
  readonly reactor: string;
  readonly logger: Pick<Logger, 'warn'>;
  /** Milliseconds after the first failed try; doubled each time, up to a hundred times as much. */
  readonly firstPause?: number;
  /** Ends all work between two tries. */
  readonly signal: AbortSignal;
};

/** Repeats the work of one reactor on an event while it fails, and remembers the last failure. */
export class RepeatedWork {
  readonly #options: RepeatedWorkOptions;
  readonly #cutOff = new CutOff();
  #failures = 0;
  #lastError: { readonly at: string; readonly stream: string; readonly message: string } | null = null;

  constructor(options: RepeatedWorkOptions) {
    this.#options = options;
  }

  /** Tries that failed since the start. */
  get failures(): number {
    return this.#failures;
  }

  get lastError() {
    return this.#lastError;
  }

  /** Ends the waiting for all work under way. */
  cut(): void {
    this.#cutOff.cut(this.#options.signal.reason);
  }

  /**
   * Tries until it works or as many tries have failed as `tries` returns for the last error, and then returns that error.
   * Faults that pass do not count.
   * @throws the reason of the signal
   */
  async run(
    event: RecordedEvent,
    work: () => Promise<void>,
    tries: (error: unknown) => number,
  ): Promise<{ error: unknown } | undefined> {
    const { signal, firstPause = 300 } = this.#options;
    const pauses = { firstPause, longestPause: firstPause * 100 };
    for (let failures = 0, tried = 1; ; tried += 1) {
      signal.throwIfAborted();
      try {
        await this.#cutOff.unless(work());
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (!isTransient(error)) failures += 1;
        this.#warn(event, error, failures);
        if (!isTransient(error) && failures >= tries(error)) return { error };
        await clock.sleep(pauseAfter(tried, pauses), signal);
      }
    }
  }

  #warn({ stream, type, position }: RecordedEvent, err: unknown, failures: number): void {
    const { logger, reactor } = this.#options;
    this.#failures += 1;
    const message = err instanceof Error ? err.message : String(err);
    this.#lastError = { at: clock.date().toISOString(), stream, message };
    logger.warn({ reactor, stream, type, position, failures, err }, 'reaction failed');
  }
}
