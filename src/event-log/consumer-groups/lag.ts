import { clock } from '../../tools/clock.ts';
import type { EventLog, Position } from '../event-log.ts';

/** Number and age of the events of some streams that a reader has not read yet. */
export type Lag = {
  /**
   * Counted up to {@link MAX_COUNTED}, or as far as a fifth of a second allows; `undefined` if it is not known whether
   * there is any: no event could be read in that time, or the position is after the end of the log.
   */
  readonly count: number | undefined;
  /** Time of the oldest of them, RFC 3339. */
  readonly oldest: string | undefined;
};

/** Upper bound for counting lag; larger values are reported as this number. */
export const MAX_COUNTED = 1000;
const COUNT_TIMEOUT_MS = 200;

export const NONE_WAITING: Lag = { count: 0, oldest: undefined };
const UNKNOWN: Lag = { count: undefined, oldest: undefined };

/**
 * Counts the events after `after` in streams of this prefix. The work is bounded for a log of any length.
 * @param beyond result for a position after the end of the log: by default it is one of another log
 */
export async function lagAfter(
  log: Pick<EventLog, 'head' | 'readAll'>,
  after: Position | undefined,
  streamPrefix: string,
  beyond = UNKNOWN,
): Promise<Lag> {
  const head = await log.head();
  if (after === head) return NONE_WAITING;
  if (head === undefined || (after !== undefined && after > head)) return beyond;
  const signal = clock.timeoutSignal(COUNT_TIMEOUT_MS);
  let [count, oldest]: [number, string | undefined] = [0, undefined];
  try {
    for await (const { metadata } of log.readAll({ after, streamPrefixes: [streamPrefix], signal })) {
      if (count === 0 && typeof metadata['occurredAt'] === 'string') oldest = metadata['occurredAt'];
      count += 1;
      if (count === MAX_COUNTED) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    if (count === 0) return { count: undefined, oldest };
  }
  return { count, oldest };
}
