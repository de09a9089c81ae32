import type { GroupConsumer } from './group-consumer.ts';
import type { Message } from './message.ts';
import type { PushResult } from './stream-buffer.ts';

/** Decides which consumer of a group is sent a message. */
export interface ConsumerStrategy {
  add(consumer: GroupConsumer): void;
  remove(consumer: GroupConsumer): void;
  push(message: Message): PushResult;
  /** Must be called when a consumer no longer holds an event of the stream. */
  released(consumer: GroupConsumer, stream: string): void;
}

/** The first consumer with room; in turns, or the same one until it is full. */
export class QueueStrategy implements ConsumerStrategy {
  #queue: GroupConsumer[] = [];
  readonly #isInTurns: boolean;

  constructor(isInTurns: boolean) {
    this.#isInTurns = isInTurns;
  }

  add(consumer: GroupConsumer): void {
    this.#queue.push(consumer);
  }

  remove(consumer: GroupConsumer): void {
    this.#queue = this.#queue.filter((one) => one !== consumer);
  }

  push(message: Message): PushResult {
    const index = this.#queue.findIndex((consumer) => consumer.push(message));
    if (index >= 0 && this.#isInTurns) this.#queue.push(...this.#queue.splice(0, index + 1));
    return index < 0 ? 'full' : 'sent';
  }

  released(): void {}
}
