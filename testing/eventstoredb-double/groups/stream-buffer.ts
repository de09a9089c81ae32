import type { StoredEvent } from '../storage/stored-events.ts';
import { type Message, newMessage } from './message.ts';

/** `skipped`: its consumer is full, others may not be. `full`: no consumer has room. */
export type PushResult = 'sent' | 'skipped' | 'full';

export type BufferSizes = { readonly bufferSize: number; readonly liveBufferSize: number };

/** The events that a group has read and not pushed, and those it has to push again. */
export class StreamBuffer {
  /** Sorted by position, but for messages at its end whose consumer was full. */
  #retry: Message[] = [];
  #buffer: Message[] = [];
  /** The last events that were committed, also while the group is live. */
  #live: StoredEvent[] = [];
  readonly #sizes: BufferSizes;
  readonly #checkpoint: bigint | undefined;
  isLive: boolean;

  /** Events up to the checkpoint are not read again. */
  constructor(sizes: BufferSizes, checkpoint: bigint | undefined, isLive: boolean) {
    this.#sizes = sizes;
    this.#checkpoint = checkpoint;
    this.isLive = isLive;
  }

  get counts(): { readonly read: number; readonly retry: number; readonly live: number } {
    return { read: this.#buffer.length, retry: this.#retry.length, live: this.#live.length };
  }

  get toRetry(): readonly Message[] {
    return this.#retry;
  }

  hasRoomFor(count: number): boolean {
    return this.#sizes.bufferSize - this.#retry.length - this.#buffer.length > count;
  }

  /** Adds an event that was read from the log while the group is behind. */
  addRead(event: StoredEvent): void {
    if (this.isLive || (this.#checkpoint !== undefined && event.position <= this.#checkpoint)) return;
    const firstLive = this.#live[0]?.position;
    if (firstLive === undefined || event.position < firstLive) this.#buffer.push(newMessage(event));
    else this.#switchToLive(event.position);
  }

  /** Adds an event that was committed now. A group whose buffer is full is behind from then on. */
  addLive(event: StoredEvent): void {
    if (this.isLive) {
      if (this.#buffer.length < this.#sizes.bufferSize) this.#buffer.push(newMessage(event));
      else this.isLive = false;
    }
    this.#live.push(event);
    if (this.#live.length > this.#sizes.liveBufferSize) this.#live.shift();
  }

  addRetry(message: Message): void {
    const { position } = message.event;
    const index = message.isReplayed
      ? -1
      : this.#retry.findIndex(({ event, isReplayed }) => !isReplayed && position < event.position);
    if (index < 0) this.#retry.push(message);
    else this.#retry.splice(index, 0, message);
  }

  addRetryToEnd(message: Message): void {
    this.#retry.push(message);
  }

  /** Returns whether nothing was committed that was not read. */
  tryMoveToLive(): boolean {
    if (this.#live.length === 0) this.isLive = true;
    return this.isLive;
  }

  /** Offers every message, those to retry first, until no consumer has room; those that were sent are gone. */
  push(offer: (message: Message, isRetry: boolean) => PushResult | 'moved'): void {
    let isFull = false;
    const rest = (messages: readonly Message[], isRetry: boolean) => {
      const left: Message[] = [];
      for (const [index, message] of messages.entries()) {
        const result = isFull ? 'full' : offer(message, isRetry);
        isFull = result === 'full';
        if (isFull) return [...left, ...messages.slice(index)];
        if (result === 'skipped') left.push(message);
      }
      return left;
    };
    this.#retry = rest(this.#retry, true);
    this.#buffer = isFull ? this.#buffer : rest(this.#buffer, false);
  }

  #switchToLive(position: bigint): void {
    const behind = this.#live.filter((event) => event.position >= position);
    this.#buffer.push(...behind.map(newMessage));
    this.#live = [];
    this.isLive = true;
  }
}
