import type { Position, RecordedEvent } from './event-log.ts';
import { hasPrefix } from './stream-prefix.ts';

/** Events that are held, and so many more until the oldest are forgotten, together. */
const [MOST, SPARE] = [1_000, 100];

/** The events at the end of a log, read once for all who follow it. */
export class LogTail {
  /** All behind `#after` up to `#upTo`, in order. */
  #events: RecordedEvent[] = [];
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
    return streamPrefixes ? behind.filter(({ stream }) => hasPrefix(stream, streamPrefixes)) : behind;
  }

  /** Events that follow `before` without a gap have come; they are made only if that is where the tail ends. */
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
    if (this.#events.length < MOST + SPARE) return;
    this.#after = this.#events.splice(0, this.#events.length - MOST).at(-1)?.position;
  }
}
