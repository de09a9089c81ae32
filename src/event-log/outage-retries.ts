import { clock } from '../tools/clock.ts';
import { Backoff, type BackoffOptions } from '../tools/concurrency/backoff.ts';
import { random } from '../tools/random.ts';
import { EventLogUnavailable, type ExpectedRevision } from './event-log.ts';

export type RetryLimits = BackoffOptions & {
  /** Milliseconds from the beginning of a request until its retries end. */
  readonly timeLimit: number;
};

/** Default limits, equal to those of the retries inside the EventStoreDB adapter. */
export const RETRY_LIMITS: RetryLimits = { timeLimit: 20_000, firstPause: 50, longestPause: 2000 };

/**
 * Limits the retries of one request while the event log has no quorum. Such a log rejects appends after events that are
 * not replicated yet, and its reads do not show these events. This is an outage, not a conflict with another writer.
 */
export class OutageRetries {
  /** When the request began, by `clock.monotonic()`. */
  readonly since: number;
  readonly #limits: RetryLimits;
  readonly #backoff: Backoff;

  constructor(limits: RetryLimits = RETRY_LIMITS, since = clock.monotonic()) {
    this.#limits = limits;
    this.#backoff = new Backoff(limits);
    this.since = since;
  }

  get isOver(): boolean {
    return clock.monotonic() - this.since > this.#limits.timeLimit;
  }

  /**
   * Resolves after a pause; each pause is longer than the one before.
   * @param failure begins the sentence of the error, as in "The append to x was rejected".
   * @throws {EventLogUnavailable} the pause would end after the time limit.
   */
  async pause(failure: string): Promise<void> {
    const pause = this.#backoff.next();
    const elapsed = clock.monotonic() - this.since;
    if (elapsed + pause > this.#limits.timeLimit) throw outage(failure, elapsed);
    await clock.sleep(pause);
  }

  /** Resolves after such a pause, after the log rejected an append to the stream and no read explains that. */
  pauseUnexplained(stream: string): Promise<void> {
    return this.pause(`The append to ${stream} was rejected, and no read shows another event`);
  }
}

/** Sleeps a random time up to a maximum, so that writers that lost a race do not stay in step. */
export function pauseAfterLostRace(maximumMs: number): Promise<void> {
  return clock.sleep(random.fraction() * maximumMs);
}

/** Whether a read shows events that another writer appended after the expected revision. */
export function isBeyond(shown: ExpectedRevision, expected: ExpectedRevision): boolean {
  return shown !== 'none' && (expected === 'none' || shown > expected);
}

function outage(failure: string, elapsed: number): EventLogUnavailable {
  return new EventLogUnavailable(
    `${failure}; retries ended after ${(elapsed / 1000).toFixed(1)} s. The event log may have lost its quorum.`,
  );
}
