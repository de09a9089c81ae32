import type { Counted, Message } from './message.ts';

export type CheckpointSettings = {
  readonly checkPointAfter: number;
  readonly minCheckPointCount: number;
  readonly maxCheckPointCount: number;
};

/**
 * The one position that a group writes down, with the server's way to count. Messages get a number when they leave
 * the buffer, events that a filter leaves out when they arrive. With a filter the checkpoint therefore passes events
 * that wait in the buffer, and events in work that got their number after others that came later.
 */
export class GroupCheckpoint {
  readonly #settings: CheckpointSettings;
  readonly #write: (position: bigint) => void;
  #next = 0;
  #lastKnown: bigint | undefined;
  #writtenNumber = -1;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #position: bigint | undefined;

  constructor(settings: CheckpointSettings, write: (position: bigint) => void) {
    this.#settings = settings;
    this.#write = write;
  }

  /** Returns the checkpoint that was written or loaded last. */
  get position(): bigint | undefined {
    return this.#position;
  }

  load(position: bigint): void {
    [this.#next, this.#writtenNumber] = [1, 0];
    [this.#lastKnown, this.#position] = [position, position];
  }

  /** Returns the message as it is pushed: with a number, if it has none. */
  numbered(message: Message): Message {
    if (message.isReplayed || message.counted) return message;
    return { ...message, counted: { sequence: this.#next, previous: this.#lastKnown } };
  }

  /** Must be called when a message has left the buffer for the first time. */
  passed({ event }: Message): void {
    this.#next += 1;
    this.#lastKnown = event.position;
  }

  /** Counts events that the filter leaves out. */
  leftOut(position: bigint, count: number): void {
    this.#next += count;
    this.#lastKnown = position;
  }

  /** Writes the position before the lowest open message, or the last known one, if it is time. */
  mark(lowestOpen: () => Counted | undefined, isTick: boolean): void {
    const now = performance.now();
    const { checkPointAfter, minCheckPointCount, maxCheckPointCount } = this.#settings;
    const countIsEnough = (count: number) =>
      count >= maxCheckPointCount ||
      (isTick && count >= minCheckPointCount && this.#isOld(now, checkPointAfter));
    if (!countIsEnough(this.#next - 1 - this.#writtenNumber)) return;
    const lowest = lowestOpen();
    const number = lowest ? lowest.sequence - 1 : this.#next - 1;
    const position = lowest ? lowest.previous : this.#lastKnown;
    if (position === undefined || !countIsEnough(number - this.#writtenNumber)) return;
    [this.#writtenAt, this.#writtenNumber, this.#position] = [now, number, position];
    this.#write(position);
  }

  #isOld(now: number, checkPointAfter: number): boolean {
    return checkPointAfter > 0 && now - this.#writtenAt >= checkPointAfter;
  }
}
