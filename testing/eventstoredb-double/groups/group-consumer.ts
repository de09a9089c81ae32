import type { StoredEvent } from '../storage/stored-events.ts';
import type { Message } from './message.ts';

export type ConsumerOptions = {
  /** The number of events that it holds at most and has not acknowledged. */
  readonly bufferSize: number;
  readonly send: (message: Message) => void;
  /** Ends its call because the group is gone or is loaded again. */
  readonly drop: () => void;
  readonly connectionName?: string;
  readonly from?: string;
  readonly username?: string;
};

/** One consumer that is connected to a group. */
export class GroupConsumer {
  readonly options: ConsumerOptions;
  readonly #held = new Map<string, Message>();
  #total = 0;

  constructor(options: ConsumerOptions) {
    this.options = options;
  }

  get held(): readonly Message[] {
    return [...this.#held.values()];
  }

  get inFlight(): number {
    return this.#held.size;
  }

  get room(): number {
    return this.options.bufferSize - this.#held.size;
  }

  /** The number of messages that were ever pushed to it. */
  get total(): number {
    return this.#total;
  }

  /** Returns false, and sends nothing, when it is full. */
  push(message: Message): boolean {
    if (this.room <= 0) return false;
    this.#held.set(message.event.id, message);
    this.#total += 1;
    this.options.send(message);
    return true;
  }

  /** Returns the event if it held that one. */
  release(id: string): StoredEvent | undefined {
    const message = this.#held.get(id);
    this.#held.delete(id);
    return message?.event;
  }
}
