import type { Position, RecordedEvent } from './event-log.ts';
import { hasPrefix } from './stream-prefix.ts';

/** Number of events retained, and number of further ones after which the oldest are dropped in one step. */
const [MAX_EVENTS, TRIM_SLACK] = [1_000, 100];

/** Caches the events at the end of a log, which are read once for all subscribers. */
export class RecentEventsCache {
  /** All events after `#after` up to `#upTo`, in order. */
  #events: RecordedEvent[] = [];
  #after: Position | undefined;
  #upTo: Position | undefined;

  /**
   * Returns the events after `after` up to `head` in streams of these prefixes; `undefined` if the cache
   * begins later. Reads the events that it does not have yet.
   */
  eventsAfter(
    after: Position,
    head: Position,
    streamPrefixes: readonly string[] | undefined,
    read: (after: Position) => readonly RecordedEvent[],
  ): readonly RecordedEvent[] | undefined {
    if (this.#upTo === undefined || this.#upTo < after) this.#begin(after);
    if (this.#after === undefined || after < this.#after) return undefined;
    if ((this.#upTo as Position) < head) this.#extend(head, read(this.#upTo as Position));
    const first = this.#events.findLastIndex(({ position }) => position <= after) + 1;
    const behind = this.#events.slice(first);
    return streamPrefixes ? behind.filter(({ stream }) => hasPrefix(stream, streamPrefixes)) : behind;
  }

  /** Adds events that follow `before` without a gap. They are created only if the cache ends there. */
  append(before: Position, events: () => readonly RecordedEvent[]): void {
    if (this.#upTo !== before) return;
    const made = events();
    this.#extend(made.at(-1)?.position ?? before, made);
  }

  #begin(after: Position): void {
    this.#events = [];
    this.#after = after;
    this.#upTo = after;
  }

  #extend(head: Position, events: readonly RecordedEvent[]): void {
    this.#events.push(...events);
    this.#upTo = head;
    if (this.#events.length < MAX_EVENTS + TRIM_SLACK) return;
    this.#after = this.#events.splice(0, this.#events.length - MAX_EVENTS).at(-1)?.position;
  }
}
