import {
  type PersistentSubscriptionToAll,
  type PersistentSubscriptionToAllResolvedEvent,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { CutOff } from '../../cut-off.ts';
import type { Position } from '../event-log.ts';
import type { AttemptedEvent } from './attempts.ts';
import type { EventStoreDbClient } from './client.ts';
import { ClientStream } from './client-stream.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { CallLost, factsOf } from './faults.ts';
import { toLogPosition } from './position.ts';
import { toRecordedEvent } from './records.ts';

export type ConsumerSettings = {
  readonly group: string;
  readonly streamPrefix: string;
  /** Where a group begins that has to be made. */
  readonly after?: Position;
  readonly bufferSize?: number;
  readonly quietTime?: number;
  /** Called when the server has taken the consumer in. */
  readonly connected?: () => void;
};

export type GroupMessage = AttemptedEvent & { readonly copy: PersistentSubscriptionToAllResolvedEvent };

/** Longer than any check: a time-out does not stop the work, it only has another node do it as well. */
const MESSAGE_TIMEOUT = 3_600_000;
const QUIET_TIME = 60_000;
/**
 * Clients have their turns among what a node holds, so it is to hold the line of one of them and what comes behind it.
 * But what it holds no other node gets, not even one that comes later and has nothing to do.
 */
const BUFFER_SIZE = 128;
/** Whether to give up is decided by our own count; the server is never to park an event by itself. */
const MAX_RETRY_COUNT = 1_000_000;
/** The group is there, or another user has to create it: connecting to it tells. */
const GOES_ON = new Set(['persistent-subscription-exists', 'access-denied']);

/** One connection of a consumer to its group. */
export class ConsumerSession implements AsyncDisposable {
  readonly client: EventStoreDbClient;
  readonly #connection: EventStoreDbConnection;
  readonly #settings: ConsumerSettings;
  readonly #ended = new CutOff();
  #subscription: PersistentSubscriptionToAll | undefined;
  #stream: ClientStream<PersistentSubscriptionToAllResolvedEvent> | undefined;

  constructor(connection: EventStoreDbConnection, settings: ConsumerSettings) {
    this.#connection = connection;
    this.client = connection.client();
    this.#settings = settings;
  }

  /** Batches of what the server hands out; an empty one when nothing came for long. */
  async *messages(signal: AbortSignal): AsyncGenerator<GroupMessage[]> {
    const { bufferSize = BUFFER_SIZE, quietTime = QUIET_TIME } = this.#settings;
    await this.#createGroup(signal);
    this.#stream = new ClientStream(this.#subscribe(bufferSize));
    const stop = AbortSignal.any([signal, this.client.lost]);
    while (!signal.aborted) {
      const copies = await this.#stream.take(bufferSize, quietTime, stop);
      if (copies === undefined) throw new CallLost('The server ended the subscription.');
      const messages = copies.map((copy) => this.#messageOf(copy)).filter((message) => message !== undefined);
      if (messages.length > 0 || copies.length === 0) yield messages;
    }
  }

  /** False when the connection is gone. */
  async acknowledge({ copy }: Pick<GroupMessage, 'copy'>): Promise<boolean> {
    if (!this.#stream || this.#stream.isOver || !this.#subscription) return false;
    const acknowledged = this.#subscription.ack(copy).then(
      () => true,
      () => false,
    );
    return this.#ended.unless(acknowledged).catch(() => false);
  }

  /** What was not acknowledged is handed out again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.cut(undefined);
    await this.#stream?.[Symbol.asyncDispose]();
  }

  /** If it is not there yet. */
  async #createGroup(signal: AbortSignal): Promise<void> {
    const { group, streamPrefix, after } = this.#settings;
    const settings = persistentSubscriptionToAllSettingsFromDefaults({
      startFrom: after === undefined ? START : toLogPosition(after),
      messageTimeout: MESSAGE_TIMEOUT,
      maxRetryCount: MAX_RETRY_COUNT,
      checkPointLowerBound: 1, // else up to nine events that are done with look as if they waited
      consumerStrategyName: PINNED, // the events of one stream go to one consumer, in order
    });
    const filter = streamNameFilter({ prefixes: [streamPrefix] });
    try {
      await this.#connection.call(
        (client, options) =>
          client.createPersistentSubscriptionToAll(group, settings, { ...options, filter }),
        signal,
      );
    } catch (error) {
      if (!GOES_ON.has(factsOf(error).type ?? '')) throw error;
    }
  }

  #subscribe(bufferSize: number): PersistentSubscriptionToAll {
    const options = { ...this.#connection.callOptions, bufferSize };
    this.#subscription = this.client.client.subscribeToPersistentSubscriptionToAll(
      this.#settings.group,
      options,
    );
    this.#subscription.once('confirmation', () => this.#settings.connected?.());
    return this.#subscription;
  }

  /** Events that are none of this log are acknowledged unseen. */
  #messageOf(copy: PersistentSubscriptionToAllResolvedEvent): GroupMessage | undefined {
    const event = toRecordedEvent(copy);
    if (event && copy.event) return { event, copy, created: copy.event.created, retryCount: copy.retryCount };
    void this.acknowledge({ copy });
    return undefined;
  }
}
