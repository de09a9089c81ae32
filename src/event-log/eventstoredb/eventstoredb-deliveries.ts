import { random } from '../../tools/random.ts';
import type { Deliveries, Delivery, DeliveryStanding, GroupStart } from '../deliveries.ts';
import { DeliveryQueue } from '../delivery-queue.ts';
import type { EventLog, Position, RecordedEvent } from '../event-log.ts';
import { type AttemptedEvent, EventStoreDbAttempts } from './attempts.ts';
import { EventStoreDbConnection } from './connection.ts';
import type { GroupMessage } from './consumer-session.ts';
import { GroupConsumer, type GroupConsumerOptions } from './group-consumer.ts';
import { EventStoreDbGroupStanding } from './group-standing.ts';
import { lowest } from './make-group.ts';
import { RetiredGroups, type RetiredGroupsOptions } from './retired-groups.ts';

export type EventStoreDbDeliveriesOptions = GroupConsumerOptions &
  RetiredGroupsOptions & {
    /** All that receive on a node: nothing is consumed, so nothing acknowledged, before each of them does. */
    readonly receivers: readonly string[];
    /** Up to this age, in milliseconds, an event is assumed to come for the first time. */
    readonly freshFor?: number;
  };

type Receiver = {
  readonly group: string;
  readonly streamPrefix: string;
  readonly start: GroupStart | undefined;
  readonly queue: DeliveryQueue;
};

/**
 * Deliveries that many nodes share: one persistent subscription without a filter, on the leader. The one consumer of
 * this node feeds all receivers, and acknowledges an event when each that it concerns has done so. Events of one stream
 * go to one node as long as the nodes stay the same; when one comes or goes, order may break and events may come
 * again. Reactors allow for both: they look at the present of the stream first.
 */
export class EventStoreDbDeliveries implements Deliveries, AsyncDisposable {
  readonly #options: EventStoreDbDeliveriesOptions;
  readonly #attempts: EventStoreDbAttempts;
  readonly #standing: EventStoreDbGroupStanding;
  readonly #receivers = new Map<string, Receiver>();
  readonly #stop = new AbortController();
  #consumer: GroupConsumer | undefined;
  #consuming: Promise<void> | undefined;

  /** How often work is begun is counted in `log`, which must be on the same server. */
  constructor(log: EventLog, options: EventStoreDbDeliveriesOptions) {
    this.#options = options;
    this.#attempts = new EventStoreDbAttempts(log, options.freshFor ?? 2000);
    this.#standing = new EventStoreDbGroupStanding(log, options);
  }

  trouble(group: string): string | undefined {
    return this.#receivers.has(group) ? this.#consumer?.fault : undefined;
  }

  standing(group: string, streamPrefix: string): Promise<DeliveryStanding> {
    return this.#standing.of(group, streamPrefix);
  }

  again(group: string, event: RecordedEvent): Delivery {
    return { ...this.#counted(group, { event, created: new Date(0) }), acknowledge: async () => undefined };
  }

  async *receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    start?: GroupStart,
  ): AsyncGenerator<Delivery> {
    const { receivers } = this.#options;
    if (!receivers.includes(group)) throw new TypeError(`${group} is not one of the declared receivers.`);
    const queue = new DeliveryQueue();
    // One that stops would hold what concerns it, so all of the node stops.
    signal.addEventListener('abort', () => this.#end(), { once: true });
    if (signal.aborted || this.#stop.signal.aborted) return;
    this.#receivers.set(group, { group, streamPrefix, start, queue });
    if (this.#receivers.size === receivers.length) this.#consuming ??= this.#consume();
    yield* queue;
  }

  /** Resolves when every connection is closed; receivers are to be stopped before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await Promise.all([this.#consuming, this.#standing[Symbol.asyncDispose]()]);
    await this.#consumer?.close();
  }

  async #consume(): Promise<void> {
    const { signal } = this.#stop;
    const retiring = this.#deleteRetiredGroups(signal);
    const receivers = [...this.#receivers.values()];
    const consumer = new GroupConsumer(this.#options);
    this.#consumer = consumer;
    try {
      for await (const messages of consumer.messages(() => earliest(receivers), signal)) {
        for (const message of messages) this.#deliver(message, consumer, receivers);
      }
      this.#end();
    } catch (error) {
      this.#end({ error });
    }
    await retiring;
  }

  #deliver(message: GroupMessage, consumer: GroupConsumer, receivers: readonly Receiver[]): void {
    const { event } = message;
    const concerned = receivers.filter(({ streamPrefix }) => event.stream.startsWith(streamPrefix));
    const acknowledge = consumer.take(message, concerned.length);
    if (!acknowledge) return;
    for (const { group, queue } of concerned) queue.push({ ...this.#counted(group, message), acknowledge });
  }

  #counted(group: string, event: AttemptedEvent): Omit<Delivery, 'acknowledge'> {
    const attempt = random.uuid();
    return {
      event: event.event,
      begin: (how) => this.#attempts.next(group, event, { id: attempt, isAlone: how === 'alone' }),
      handBack: () => this.#attempts.takeBack(group, event, attempt),
    };
  }

  async #deleteRetiredGroups(signal: AbortSignal): Promise<void> {
    const { retiredGroups = [] } = this.#options;
    await using connection = new EventStoreDbConnection(this.#options);
    await new RetiredGroups(connection, retiredGroups, this.#options).deleteWhenUnused(signal);
  }

  #end(outcome?: { readonly error: unknown }): void {
    this.#stop.abort();
    for (const { queue } of this.#receivers.values()) queue.end(outcome);
  }
}

/** Returns where the receivers begin in a group that is made; `undefined`, the beginning, if one has no such place. */
async function earliest(receivers: readonly Receiver[]): Promise<Position | undefined> {
  const starts = receivers.map(({ start }) => start).filter((start) => start !== undefined);
  if (starts.length < receivers.length) return undefined;
  return lowest(await Promise.all(starts.map((start) => start())));
}
