import type {
  PersistentSubscriptionToAll,
  PersistentSubscriptionToAllResolvedEvent,
} from '@eventstore/db-client';
import { AbortGate } from '../../../tools/concurrency/abort-gate.ts';
import type { RecordedEvent } from '../../event-log.ts';
import { ClientStream } from '../client-stream.ts';
import type { EventStoreDbConnection } from '../connection.ts';
import type { DroppableClient } from '../droppable-client.ts';
import { CallLost } from '../errors.ts';
import { toRecordedEvent } from '../to-recorded-event.ts';
import { GROUP } from './group.ts';

export type ConsumerSettings = {
  /** Maximum number of events that one node may have unacknowledged. */
  readonly bufferSize?: number;
  /** Milliseconds of silence after which a consumer checks whether the server still serves it. */
  readonly consumerQuietTime?: number;
};

export type GroupMessage = {
  readonly event: RecordedEvent;
  readonly copy: PersistentSubscriptionToAllResolvedEvent;
};

const QUIET_TIME_MS = 60_000;
/**
 * Number of unacknowledged events per node. It is large because one slow reactor must not delay the events of other
 * streams. It is limited because no other node gets these events, not even an idle one that connects later.
 */
const BUFFER_SIZE = 2000;

/** One connection of this node to the group. */
export class ConsumerSession implements AsyncDisposable {
  readonly client: DroppableClient;
  readonly bufferSize: number;
  readonly #connection: EventStoreDbConnection;
  readonly #quietTime: number;
  readonly #ended = new AbortGate();
  #subscription: PersistentSubscriptionToAll | undefined;
  #stream: ClientStream<PersistentSubscriptionToAllResolvedEvent> | undefined;
  /** Copies to be acknowledged in one message, and the outcome of sending it. */
  #batch:
    | { readonly copies: PersistentSubscriptionToAllResolvedEvent[]; readonly sent: Promise<boolean> }
    | undefined;

  constructor(
    connection: EventStoreDbConnection,
    { bufferSize = BUFFER_SIZE, consumerQuietTime = QUIET_TIME_MS }: ConsumerSettings,
  ) {
    this.#connection = connection;
    this.client = connection.client();
    this.bufferSize = bufferSize;
    this.#quietTime = consumerQuietTime;
  }

  /** Yields the events that the server delivers, in batches; an empty batch after a time of silence. */
  async *messages(signal: AbortSignal, connected: () => void): AsyncGenerator<GroupMessage[]> {
    const { bufferSize } = this;
    const options = { ...this.#connection.callOptions, bufferSize };
    this.#subscription = this.client.driver.subscribeToPersistentSubscriptionToAll(GROUP, options);
    this.#subscription.once('confirmation', connected);
    this.#stream = new ClientStream(this.#subscription);
    const stop = AbortSignal.any([signal, this.client.lost]);
    while (!signal.aborted) {
      const copies = await this.#stream.take(bufferSize, this.#quietTime, stop);
      if (copies === undefined) throw new CallLost('The server ended the subscription.');
      const messages = copies.map((copy) => this.#messageOf(copy)).filter((message) => message !== undefined);
      if (messages.length > 0 || copies.length === 0) yield messages;
    }
  }

  /**
   * Acknowledges a message. Acknowledgements of one turn of the event loop share a message. Resolves to false when the
   * connection is lost.
   */
  acknowledge({ copy }: Pick<GroupMessage, 'copy'>): Promise<boolean> {
    if (!this.#batch) {
      const copies: PersistentSubscriptionToAllResolvedEvent[] = [];
      const sent = Promise.resolve().then(() => this.#send(copies));
      this.#batch = { copies, sent };
    }
    this.#batch.copies.push(copy);
    return this.#batch.sent;
  }

  /** Closes the connection; the server delivers unacknowledged events again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(undefined);
    await this.#stream?.[Symbol.asyncDispose]();
  }

  async #send(copies: readonly PersistentSubscriptionToAllResolvedEvent[]): Promise<boolean> {
    this.#batch = undefined;
    if (!this.#stream || this.#stream.isOver || !this.#subscription) return false;
    const acknowledged = this.#subscription.ack(...copies).then(
      () => true,
      () => false,
    );
    return this.#ended.race(acknowledged).catch(() => false);
  }

  /** Acknowledges events that this service did not write without delivering them. */
  #messageOf(copy: PersistentSubscriptionToAllResolvedEvent): GroupMessage | undefined {
    const event = toRecordedEvent(copy);
    if (event) return { event, copy };
    void this.acknowledge({ copy });
    return undefined;
  }
}
