import type { PersistentSubscriptionToAllInfo } from '@eventstore/db-client';
import type { DeliveryStanding } from '../deliveries.ts';
import type { EventLog, Position } from '../event-log.ts';
import { waitingAfter } from '../waiting-events.ts';
import { EventStoreDbConnection } from './connection.ts';
import { factsOf, translated } from './faults.ts';
import { toPosition } from './position.ts';
import type { EventStoreDbOptions } from './settings.ts';

/** How far the persistent subscription of a group is, as the server tells it. */
export class EventStoreDbGroupStanding implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #options: EventStoreDbOptions;
  #connection: EventStoreDbConnection | undefined;

  /** Connects when it is first asked. */
  constructor(log: EventLog, options: EventStoreDbOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** The server saves its checkpoint every two seconds: what was acknowledged since is counted in. */
  async of(group: string, streamPrefix: string): Promise<DeliveryStanding> {
    const info = await this.#info(group);
    const position = checkpointOf(info);
    if (info && isIdle(info)) return { position, waiting: 0, oldest: undefined };
    const { count, oldest } = await waitingAfter(this.#log, position, streamPrefix);
    return { position, waiting: count, oldest };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
  }

  /** Nothing for a group that was never received. */
  async #info(group: string): Promise<PersistentSubscriptionToAllInfo | undefined> {
    this.#connection ??= new EventStoreDbConnection(this.#options);
    try {
      return await this.#connection.call((client, options) =>
        client.getPersistentSubscriptionToAllInfo(group, options),
      );
    } catch (error) {
      if (factsOf(error).type === 'persistent-subscription-does-not-exist') return undefined;
      throw translated(`Asking how far ${group} is`, error);
    }
  }
}

function checkpointOf(info: PersistentSubscriptionToAllInfo | undefined): Position | undefined {
  const checkpoint = info?.stats.lastCheckpointedEventPosition;
  return checkpoint && toPosition(checkpoint);
}

/** Somebody listens, and the server has nothing for them. */
function isIdle({ connections, stats }: PersistentSubscriptionToAllInfo): boolean {
  const { outstandingMessagesCount, readBufferCount, retryBufferCount, liveBufferCount } = stats;
  const held = outstandingMessagesCount + readBufferCount + retryBufferCount + Number(liveBufferCount);
  return connections.length > 0 && held === 0;
}
