import type { StoredEvent } from '../storage/stored-events.ts';

/** An event on its way through a group. */
export type Message = {
  readonly event: StoredEvent;
  readonly retryCount: number;
  /** It was parked and is pushed again: no checkpoint counts it. */
  readonly isReplayed: boolean;
  /** Set when it leaves the buffer for the first time. */
  readonly counted?: Counted;
};

export type Counted = {
  readonly sequence: number;
  /** The position that was the last known one then: the checkpoint while this message is the lowest one open. */
  readonly previous: bigint | undefined;
};

export function newMessage(event: StoredEvent): Message {
  return { event, retryCount: 0, isReplayed: false };
}

/** Returns the message with the lowest sequence number; messages without one do not count. */
export function lowestOf(messages: Iterable<Message>): Counted | undefined {
  let lowest: Counted | undefined;
  for (const { counted, isReplayed } of messages) {
    if (!isReplayed && counted && (!lowest || counted.sequence < lowest.sequence)) lowest = counted;
  }
  return lowest;
}
