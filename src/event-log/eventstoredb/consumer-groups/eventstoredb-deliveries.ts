import { random } from '../../../tools/random.ts';
import type {
  Deliveries,
  Delivery,
  GroupStart,
  GroupStatus,
  ReceiveOptions,
} from '../../consumer-groups/deliveries.ts';
import { DeliveryQueue } from '../../consumer-groups/delivery-queue.ts';
import { lagAfter, NONE_WAITING } from '../../consumer-groups/lag.ts';
import type { EventLog, Position, RecordedEvent } from '../../event-log.ts';
import { EventStoreDbConnection } from '../connection.ts';
import type { GroupMessage } from './consumer-session.ts';
import { EventStoreDbAttempts } from './delivery-attempts.ts';
import { checkpointOf, GROUP, groupInfo, lowest } from './group.ts';
import { GroupConsumer, type GroupConsumerOptions } from './group-consumer.ts';
import { deleteRetiredGroups, type RetiredGroupsOptions } from './retired-groups.ts';

export type EventStoreDbDeliveriesOptions = GroupConsumerOptions &
  RetiredGroupsOptions & {
    /**
     * All receivers of a node: consuming starts only when each of them receives, so that no event is acknowledged
     * before.
     */
    readonly receivers: readonly string[];
  };

type Receiver = {
  readonly name: string;
  readonly concerns: (event: RecordedEvent) => boolean;
  readonly start: GroupStart | undefined;
  readonly hasWork: NonNullable<ReceiveOptions['hasWork']>;
  readonly queue: DeliveryQueue;
};

/**
 * Deliveries that many nodes share: one persistent subscription without a filter, on the leader. The one consumer of
 * this node feeds all receivers, and acknowledges an event when each receiver concerned has done so. Events of one
 * stream are delivered to one node while the set of nodes is unchanged. When a node joins or leaves, order may break
 * and events may be delivered again. Reactors allow for both: they read the present state of the stream first.
 */
export class EventStoreDbDeliveries implements Deliveries, AsyncDisposable {
  readonly #log: EventLog;
  readonly #options: EventStoreDbDeliveriesOptions;
  /** For all but the consumer, which has its own. */
  readonly #connection: EventStoreDbConnection;
  readonly #attempts: EventStoreDbAttempts;
  readonly #receivers = new Map<string, Receiver>();
  readonly #stop = new AbortController();
  #consumer: GroupConsumer | undefined;
  #consuming: Promise<void> | undefined;

  /** @param log event log for the attempt counts, which must be on the same server. */
  constructor(log: EventLog, options: EventStoreDbDeliveriesOptions) {
    this.#log = log;
    this.#options = options;
    this.#connection = new EventStoreDbConnection(options);
    this.#attempts = new EventStoreDbAttempts(log);
  }

  lastError(receiver: string): string | undefined {
    return this.#receivers.has(receiver) ? this.#consumer?.fault : undefined;
  }

  /**
   * Counts the events of one receiver after the checkpoint. The server saves the checkpoint every two seconds, so
   * events acknowledged since then are counted, too.
   */
  async status(receiver: string, streamPrefix: string): Promise<GroupStatus> {
    const reading = groupInfo(this.#connection, GROUP);
    const info = await this.#connection.orLogError(`Reading the position of the ${receiver}`, reading);
    const position = checkpointOf(info);
    // The checkpoint may be at a record of the server itself, after the last event.
    const { count, oldest } = await lagAfter(this.#log, position, streamPrefix, NONE_WAITING);
    return { position, waiting: count, oldest };
  }

  redelivery(receiver: string, event: RecordedEvent): Delivery {
    return this.#counted(receiver, event, async () => undefined);
  }

  async *receive(
    receiver: string,
    streamPrefix: string,
    signal: AbortSignal,
    { start, concerns = () => true, hasWork = async () => true }: ReceiveOptions = {},
  ): AsyncGenerator<Delivery> {
    const { receivers } = this.#options;
    if (!receivers.includes(receiver))
      throw new TypeError(`${receiver} is not one of the declared receivers.`);
    const queue = new DeliveryQueue();
    // A single stopped receiver would retain the events that concern it, so all receivers of the node stop.
    signal.addEventListener('abort', () => this.#end(), { once: true });
    if (signal.aborted || this.#stop.signal.aborted) return;
    this.#receivers.set(receiver, {
      name: receiver,
      concerns: (event) => event.stream.startsWith(streamPrefix) && concerns(event),
      start,
      hasWork,
      queue,
    });
    if (this.#receivers.size === receivers.length) this.#consuming ??= this.#consume();
    yield* queue;
  }

  /** Resolves when every connection is closed. Receivers must be stopped before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await this.#consuming;
    await Promise.all([this.#consumer?.close(), this.#connection[Symbol.asyncDispose]()]);
  }

  async #consume(): Promise<void> {
    const { signal } = this.#stop;
    const { retiredGroups = [] } = this.#options;
    const retiring = deleteRetiredGroups(this.#connection, retiredGroups, this.#options, signal);
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
    const concerned = receivers.filter(({ concerns }) => concerns(event));
    const acknowledge = consumer.take(message, concerned.length);
    if (!acknowledge) return;
    const isCounted = consumer.mayHaveBegun(message);
    for (const { name, queue } of concerned) {
      const uncounted = { event, begin: async () => 1, acknowledge };
      queue.push(isCounted ? this.#counted(name, event, acknowledge) : uncounted);
    }
  }

  #counted(receiver: string, event: RecordedEvent, acknowledge: Delivery['acknowledge']): Delivery {
    const attempt = random.uuid();
    const handBack = () => this.#attempts.takeBack(receiver, event, attempt);
    let count: number | undefined;
    return {
      event,
      begin: async (how) => {
        if (!(await this.#hasWork(receiver, event))) return 1;
        count = await this.#attempts.next(receiver, event, { id: attempt, isAlone: how === 'alone' });
        return count;
      },
      handBack,
      acknowledge: async () => {
        await acknowledge();
        // It has completed, so it is no crash. The count of a first attempt stays, which saves an append: the group may
        // deliver an event again each time that its leader changes, while an earlier event is in work.
        if (count !== undefined && count > 1) await handBack().catch(() => undefined);
      },
    };
  }

  /** After a migration all events of the log are delivered, and nearly all are of finished work. */
  async #hasWork(receiver: string, event: RecordedEvent): Promise<boolean> {
    const looking = this.#receivers.get(receiver)?.hasWork(event);
    return (await looking?.catch(() => true)) ?? true; // the work itself fails with the reason
  }

  #end(outcome?: { readonly error: unknown }): void {
    this.#stop.abort();
    for (const { queue } of this.#receivers.values()) queue.end(outcome);
  }
}

/**
 * Returns the start position of a group that is created; `undefined`, the beginning, if one receiver has no start
 * position.
 */
async function earliest(receivers: readonly Receiver[]): Promise<Position | undefined> {
  const starts = receivers.map(({ start }) => start).filter((start) => start !== undefined);
  if (starts.length < receivers.length) return undefined;
  return lowest(await Promise.all(starts.map((start) => start())));
}
