import { type ConsumerStrategy, QueueStrategy } from './consumer-strategies.ts';
import type { GroupConsumer } from './group-consumer.ts';
import type { GroupSettings, StrategyName } from './group-settings.ts';
import type { Message } from './message.ts';
import { PinnedStrategy } from './pinned-strategy.ts';
import type { PushResult } from './stream-buffer.ts';

type Outstanding = { readonly message: Message; readonly dueAt: number };

/** The consumers of a group and the messages that are in work: pushed and neither acknowledged nor refused. */
export class GroupConsumers {
  readonly #settings: GroupSettings;
  readonly #strategy: ReturnType<typeof strategyOf>;
  readonly #connected = new Set<GroupConsumer>();
  readonly #outstanding = new Map<string, Outstanding>();

  constructor(settings: GroupSettings) {
    this.#settings = settings;
    this.#strategy = strategyOf(settings.strategy);
  }

  get connected(): ReadonlySet<GroupConsumer> {
    return this.#connected;
  }

  get isFull(): boolean {
    const { maxSubscriberCount } = this.#settings;
    return maxSubscriberCount > 0 && this.#connected.size >= maxSubscriberCount;
  }

  get outstandingCount(): number {
    return this.#outstanding.size;
  }

  *outstanding(): Generator<Message> {
    for (const { message } of this.#outstanding.values()) yield message;
  }

  find(id: string): Message | undefined {
    return this.#outstanding.get(id)?.message;
  }

  add(consumer: GroupConsumer): void {
    this.#connected.add(consumer);
    this.#strategy.add(consumer);
  }

  /** Returns the messages that it leaves behind, which stay outstanding until they are released. */
  remove(consumer: GroupConsumer): Message[] {
    if (!this.#connected.delete(consumer)) return [];
    this.#strategy.remove(consumer);
    return consumer.held.map(({ event }) => this.find(event.id)).filter((message) => message !== undefined);
  }

  /** A second event with the id of one in work is pushed, but not tracked. */
  push(message: Message): PushResult {
    const result = this.#connected.size === 0 ? 'full' : this.#strategy.push(message);
    const { id } = message.event;
    const dueAt = performance.now() + this.#settings.messageTimeout;
    if (result === 'sent' && !this.#outstanding.has(id)) this.#outstanding.set(id, { message, dueAt });
    return result;
  }

  /** Ends the work on an event, whichever consumer has it. */
  release(id: string): void {
    this.#outstanding.delete(id);
    for (const consumer of this.#connected) {
      const event = consumer.release(id);
      if (event) this.#strategy.released(consumer, event.stream);
    }
  }

  /** Returns the messages whose time-out is over. */
  due(now: number): Message[] {
    return [...this.#outstanding.values()].filter(({ dueAt }) => dueAt <= now).map(({ message }) => message);
  }

  /** Ends the calls of all consumers. */
  drop(): void {
    const consumers = [...this.#connected];
    this.#connected.clear();
    for (const { options } of consumers) options.drop();
  }
}

function strategyOf(name: StrategyName): ConsumerStrategy {
  return name === 'Pinned' ? new PinnedStrategy() : new QueueStrategy(name === 'RoundRobin');
}
