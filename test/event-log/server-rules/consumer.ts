import {
  type PersistentSubscriptionToAll,
  type PersistentSubscriptionToAllResolvedEvent,
  type PersistentSubscriptionToAllSettings,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  type ReadPosition,
  ROUND_ROBIN,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { ExecutionContext } from 'ava';
import { eventually } from '../log-on-double.ts';
import { accelerated, type RulesServer } from './server.ts';

export type Received = PersistentSubscriptionToAllResolvedEvent;

export { PINNED, ROUND_ROBIN };

/** Creates a group that begins at the last event of the log, so that a long log does not matter. */
export async function createGroup(
  server: RulesServer,
  group: string,
  settings: Partial<PersistentSubscriptionToAllSettings> = {},
  prefix?: string,
): Promise<void> {
  const startFrom = await lastPosition(server);
  const filter = prefix === undefined ? {} : { filter: streamNameFilter({ prefixes: [prefix] }) };
  const all = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom,
    checkPointAfter: accelerated(2000),
    checkPointLowerBound: 1,
    maxRetryCount: 1_000_000,
    ...settings,
  });
  await server.client.createPersistentSubscriptionToAll(group, all, { ...server.options, ...filter });
}

export async function lastPosition({ client, options }: RulesServer): Promise<ReadPosition> {
  const read = client.readAll({ ...options, direction: 'backwards', fromPosition: 'end', maxCount: 1 });
  for await (const { event } of read) if (event) return event.position;
  return START;
}

/**
 * One connection of a consumer to a group. It acknowledges events of streams that are not the test's without recording
 * them.
 */
export class RulesConsumer {
  readonly received: Received[] = [];
  readonly #subscription: PersistentSubscriptionToAll;
  readonly #stream: string;
  #isOver = false;

  /** `work` returns whether the event is acknowledged; without it, every one is. */
  static async connect(
    t: ExecutionContext,
    server: RulesServer,
    group: string,
    work: (event: Received) => boolean = () => true,
    bufferSize = 1000,
  ): Promise<RulesConsumer> {
    const subscription = server
      .another()
      .subscribeToPersistentSubscriptionToAll(group, { ...server.options, bufferSize });
    const consumer = new RulesConsumer(subscription, server.own(''), work);
    t.teardown(() => consumer.disconnect());
    await new Promise<void>((resolve, reject) => {
      subscription.once('confirmation', () => resolve());
      subscription.once('error', reject);
    });
    return consumer;
  }

  private constructor(
    subscription: PersistentSubscriptionToAll,
    stream: string,
    work: (event: Received) => boolean,
  ) {
    this.#subscription = subscription;
    this.#stream = stream;
    subscription.on('data', (event: Received) => this.#receive(event, work));
    subscription.on('error', () => (this.#isOver = true)); // the server has dropped it
    subscription.on('end', () => (this.#isOver = true));
  }

  get ids(): string[] {
    return this.received.map(({ event }) => event?.id ?? '');
  }

  get streams(): Set<string> {
    return new Set(this.received.map(({ event }) => event?.streamId ?? ''));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  has(count: number): Promise<void> {
    return eventually(() => this.received.length >= count);
  }

  /** Acknowledges what was received of the events with these ids. */
  async acknowledge(ids: readonly string[]): Promise<void> {
    const events = this.received.filter(({ event }) => ids.includes(event?.id ?? ''));
    await this.#subscription.ack(...events);
  }

  async refuse(id: string): Promise<void> {
    const found = this.received.findLast(({ event }) => event?.id === id);
    if (found) await this.#subscription.nack('retry', 'a rule is tested', found);
  }

  async disconnect(): Promise<void> {
    if (!this.#isOver) await this.#subscription.unsubscribe();
    this.#isOver = true;
  }

  #receive(event: Received, work: (event: Received) => boolean): void {
    const isOwn = event.event?.streamId.startsWith(this.#stream) === true;
    if (isOwn) this.received.push(event);
    if (!isOwn || work(event)) void this.#subscription.ack(event).catch(() => undefined); // when it was dropped
  }
}

/** Resolves when the group's checkpoint is there, or beyond; resolves to it. */
export async function checkpointAt(server: RulesServer, group: string, position: bigint): Promise<bigint> {
  let checkpoint = -1n;
  await eventually(async () => {
    checkpoint = (await statsOf(server, group)).lastCheckpointedEventPosition?.commit ?? -1n;
    return checkpoint >= position;
  });
  return checkpoint;
}

export async function statsOf({ client, options }: RulesServer, group: string) {
  return (await client.getPersistentSubscriptionToAllInfo(group, options)).stats;
}
