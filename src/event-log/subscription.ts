import { clock } from '../tools/clock.ts';
import { backoffDelay } from '../tools/concurrency/backoff.ts';
import { sleepUntilAborted } from '../tools/concurrency/sleep-until-aborted.ts';
import {
  EventLogUnavailable,
  type Position,
  type ReadAllOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from './event-log.ts';
import { PageIterator } from './page-iterator.ts';
import type { CommitSignal } from './sqlite/commit-signal.ts';

/** A log that is read in pages, synchronously. */
export interface PagedLog {
  /** @throws {EventLogUnavailable} */
  pageAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage;
  /** Reads like {@link pageAfter}, but from a cache that all subscribers share. */
  cachedPageAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage;
}

export type LogPage = {
  readonly events: readonly RecordedEvent[];
  /**
   * All events up to this position are in `events` or were filtered out; never before the requested `after`.
   */
  readonly upTo: Position | undefined;
  /** Whether no event was after `upTo` when the page was read. */
  readonly atEnd: boolean;
};

const PAUSES = { firstPause: 50, longestPause: 5000 };

export function readPages(log: PagedLog, options: ReadAllOptions): AsyncIterable<RecordedEvent> {
  return { [Symbol.asyncIterator]: () => new PageIterator(pagesOf(log, options)) };
}

async function* pagesOf(
  log: PagedLog,
  options: ReadAllOptions,
): AsyncGenerator<readonly RecordedEvent[], undefined> {
  let after = options.after;
  while (true) {
    options.signal?.throwIfAborted();
    const page = log.pageAfter(after, options.streamPrefixes);
    yield page.events;
    if (page.atEnd) return;
    after = page.upTo;
    await clock.nextTurn();
  }
}

/** Follows the log until `signal` aborts. Stores only its position, so a slow consumer costs no memory. */
export async function* follow(
  log: PagedLog,
  commits: CommitSignal,
  { after, streamPrefixes, onLastError }: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage> {
  let reached = after;
  /** Null before the first report; on an empty log the position is undefined. */
  let reported: Position | undefined | null = null;
  let failures = 0;
  while (!signal.aborted) {
    const seen = commits.count;
    const page = pageUnlessUnavailable(log, reached, streamPrefixes);
    onLastError?.(page instanceof EventLogUnavailable ? page.message : undefined);
    if (page instanceof EventLogUnavailable) {
      failures += 1;
      await sleepUntilAborted(backoffDelay(failures, PAUSES), signal);
      continue;
    }
    failures = 0;
    reached = page.upTo;
    if (page.events.length > 0) yield { kind: 'events', events: page.events };
    if (!page.atEnd) {
      await clock.nextTurn();
      continue;
    }
    if (reported !== reached && !signal.aborted) {
      reported = reached;
      yield { kind: 'caught-up', position: reached };
    }
    await commits.after(seen, signal);
  }
}

function pageUnlessUnavailable(log: PagedLog, after: Position | undefined, prefixes?: readonly string[]) {
  try {
    return log.cachedPageAfter(after, prefixes);
  } catch (error) {
    if (error instanceof EventLogUnavailable) return error;
    throw error;
  }
}
