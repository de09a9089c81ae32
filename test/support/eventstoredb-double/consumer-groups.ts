import { type Consumer, ConsumerGroup, type GroupSettings } from './consumer-group.ts';
import type { StoredLog } from './stored-log.ts';

/** The groups of the server by name, and who is connected to which. */
export class ConsumerGroups {
  readonly #log: StoredLog;
  readonly #groups = new Map<string, ConsumerGroup>();
  readonly #connected = new Map<Consumer, ConsumerGroup>();

  constructor(log: StoredLog) {
    this.#log = log;
  }

  get(name: string): ConsumerGroup | undefined {
    return this.#groups.get(name);
  }

  /** Writes to a stream of the server's own, as real servers do. */
  create(name: string, settings: GroupSettings): void {
    this.#log.appendSystemEvent('$persistentSubscriptionConfig', '$PersistentConfig');
    this.#groups.set(name, new ConsumerGroup(this.#log, settings));
  }

  delete(name: string): void {
    this.#groups.delete(name);
  }

  connect(group: ConsumerGroup, consumer: Consumer): void {
    this.#connected.set(consumer, group);
    group.connect(consumer);
  }

  disconnect(consumer: Consumer): void {
    this.#connected.get(consumer)?.disconnect(consumer);
    this.#connected.delete(consumer);
  }

  disconnectAll(): void {
    for (const consumer of this.#connected.keys()) this.disconnect(consumer);
  }
}
