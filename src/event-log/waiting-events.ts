import { clock } from '../tools/clock.ts';
import type { EventLog, Position } from './event-log.ts';

/** Events of some streams that somebody has still to get to. */
export type WaitingEvents = {
  /** Counted up to {@link COUNTED_AT_MOST}, or to what a fifth of a second was enough for. */
  readonly count: number;
  /** When the oldest of them happened, RFC 3339. */
  readonly oldest: string | undefined;
};

/** How exactly something is behind that is further behind than this helps nobody. */
export const COUNTED_AT_MOST = 1000;
const PATIENCE = 200;

const NONE_WAITING: WaitingEvents = { count: 0, oldest: undefined };

/** What lies behind `after` in streams of this prefix: bounded work, however long the log is. */
export async function waitingAfter(
  log: Pick<EventLog, 'head' | 'readAll'>,
  after: Position | undefined,
  streamPrefix: string,
): Promise<WaitingEvents> {
  const head = await log.head();
  if (head === undefined || (after !== undefined && after >= head)) return NONE_WAITING;
  const signal = clock.timeoutSignal(PATIENCE);
  let [count, oldest]: [number, string | undefined] = [0, undefined];
  try {
    for await (const { metadata } of log.readAll({ after, streamPrefixes: [streamPrefix], signal })) {
      if (count === 0 && typeof metadata['occurredAt'] === 'string') oldest = metadata['occurredAt'];
      count += 1;
      if (count === COUNTED_AT_MOST) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { count, oldest };
}
