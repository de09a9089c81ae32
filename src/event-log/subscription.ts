import { pauseAfter } from '../growing-pause.ts';
import { clock } from '../tools/clock.ts';
import type { CommitSignal } from './commit-signal.ts';
import { ElementsOf } from './elements-of.ts';
import {
  EventLogUnavailable,
  type Position,
  type ReadAllOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from './event-log.ts';
import { pausing } from './pausing.ts';

/** A log that is read in pages, each at once. */
export interface PagedLog {
  /** @throws {EventLogUnavailable} */
  pageAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage;
  /** The same for those who follow the log: what comes is read once for all of them. */
  newsAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage;
}

export type LogPage = {
  readonly events: readonly RecordedEvent[];
  /** All up to here is in `events` or was filtered out; never before the `after` that was asked for. */
  readonly upTo: Position | undefined;
  /** Nothing lay behind `upTo` when the page was read. */
  readonly atEnd: boolean;
};

const PAUSES = { firstPause: 50, longestPause: 5000 };

export function readPages(log: PagedLog, options: ReadAllOptions): AsyncIterable<RecordedEvent> {
  return { [Symbol.asyncIterator]: () => new ElementsOf(pagesOf(log, options)) };
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

/** Follows the log until `signal` aborts. Holds nothing but its position, however slow the consumer is. */
export async function* follow(
  log: PagedLog,
  commits: CommitSignal,
  { after, streamPrefixes, onTrouble }: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage> {
  let reached = after;
  /** Null before the first time; on an empty log the position is undefined. */
  let told: Position | undefined | null = null;
  let failures = 0;
  while (!signal.aborted) {
    const seen = commits.count;
    const page = pageUnlessUnavailable(log, reached, streamPrefixes);
    onTrouble?.(page instanceof EventLogUnavailable ? page.message : undefined);
    if (page instanceof EventLogUnavailable) {
      failures += 1;
      await pausing(pauseAfter(failures, PAUSES), signal);
      continue;
    }
    failures = 0;
    reached = page.upTo;
    if (page.events.length > 0) yield { kind: 'events', events: page.events };
    if (!page.atEnd) {
      await clock.nextTurn();
      continue;
    }
    if (told !== reached && !signal.aborted) {
      told = reached;
      yield { kind: 'caught-up', position: reached };
    }
    await commits.after(seen, signal);
  }
}

function pageUnlessUnavailable(log: PagedLog, after: Position | undefined, prefixes?: readonly string[]) {
  try {
    return log.newsAfter(after, prefixes);
  } catch (error) {
    if (error instanceof EventLogUnavailable) return error;
    throw error;
  }
}
