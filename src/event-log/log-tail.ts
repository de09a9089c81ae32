import type { Position, RecordedEvent } from './event-log.ts';

/** Events that are held at most. */
const MOST = 1_000;

/** The events at the end of a log, read once for all who follow it. */
export class LogTail {
  /** All behind `#after` up to `#upTo`, in order. */
  #events: readonly RecordedEvent[] = [];
  #after: Position | undefined;
  #upTo: Position | undefined;

  /**
   * The events behind `after` up to `head`, of these streams; `undefined` where the tail begins later. What it does not
   * have yet, it reads.
   */
  behind(
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
    if (streamPrefixes === undefined) return behind;
    return behind.filter(({ stream }) => streamPrefixes.some((prefix) => stream.startsWith(prefix)));
  }

  #begin(after: Position): void {
    this.#events = [];
    this.#after = after;
    this.#upTo = after;
  }

  #extend(head: Position, events: readonly RecordedEvent[]): void {
    const all = [...this.#events, ...events];
    const forgotten = all.splice(0, Math.max(0, all.length - MOST)).at(-1);
    this.#events = all;
    this.#after = forgotten?.position ?? this.#after;
    this.#upTo = head;
  }
}
