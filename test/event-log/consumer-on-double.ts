import type { ExecutionContext } from 'ava';
import type { Delivery } from '../../src/event-log/consumer-groups/deliveries.ts';
import {
  EventStoreDbDeliveries,
  type EventStoreDbDeliveriesOptions,
} from '../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { eventually, type LogOnDouble } from './log-on-double.ts';

/** The group on the server, and the single receiver of these consumers. */
export const GROUP = 'reactors';
export const RECEIVER = 'checker';
const TIMES = { callTimeout: 300, firstPause: 10, longestPause: 100, linger: 200 };

/** A consumer of the group that runs until the test ends. */
export class Consumer {
  readonly received: Delivery[] = [];
  /** Delivery counts of the events that were begun. */
  readonly counts: number[] = [];
  readonly #stop = new AbortController();
  readonly #receiving: Promise<void>;
  readonly #deliveries: EventStoreDbDeliveries;

  constructor(
    t: ExecutionContext,
    { double, log }: LogOnDouble,
    work: (delivery: Delivery) => Promise<unknown>,
    options: Partial<EventStoreDbDeliveriesOptions> = {},
  ) {
    const { connectionString } = double;
    this.#deliveries = new EventStoreDbDeliveries(log, {
      connectionString,
      receivers: [RECEIVER],
      ...TIMES,
      ...options,
    });
    this.#receiving = this.#receive(work);
    t.teardown(() => this.stop());
  }

  get ids(): string[] {
    return this.received.map(({ event }) => event.id);
  }

  /** The error that prevents its connection to the group, if any. */
  get connectionError(): string | undefined {
    return this.#deliveries.lastError(RECEIVER);
  }

  /** Resolves when it has received this number of events. */
  has(count: number): Promise<void> {
    return eventually(() => this.received.length >= count);
  }

  /** Resolves when it has begun this number of events. */
  hasBegun(count: number): Promise<void> {
    return eventually(() => this.counts.length >= count);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#receiving;
    await this.#deliveries[Symbol.asyncDispose]();
  }

  async #receive(work: (delivery: Delivery) => Promise<unknown>): Promise<void> {
    for await (const delivery of this.#deliveries.receive(RECEIVER, 'deposit-', this.#stop.signal)) {
      this.received.push(delivery);
      const count = await work(delivery);
      if (typeof count === 'number') this.counts.push(count);
    }
  }
}

/** Begins a delivery; resolves to its count. */
export const beginning = async (delivery: Delivery): Promise<number | undefined> => {
  const count = await delivery.begin('alone');
  await delivery.acknowledge();
  return count;
};
export const acknowledging = (delivery: Delivery) => delivery.acknowledge();
export const holding = () => Promise.resolve();

/** Resolves when the group has this number of consumers. */
export function connected({ double }: LogOnDouble, consumers: number): Promise<void> {
  return eventually(() => double.groups.get(GROUP)?.consumers === consumers);
}

/** Returns the number of events of the group that are delivered or wait for delivery. */
export function unacknowledged({ double }: LogOnDouble): number {
  return double.groups.get(GROUP)?.unacknowledged ?? -1;
}
