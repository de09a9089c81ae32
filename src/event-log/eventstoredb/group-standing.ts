import type { PersistentSubscriptionToAllInfo } from '@eventstore/db-client';
import type { DeliveryStanding } from '../deliveries.ts';
import type { EventLog } from '../event-log.ts';
import { waitingAfter } from '../waiting-events.ts';
import { EventStoreDbConnection } from './connection.ts';
import { translated } from './faults.ts';
import { checkpointOf, GROUP, groupInfo } from './group.ts';
import type { EventStoreDbOptions } from './settings.ts';

/** Reports how far the group is, as the server shows it. */
export class EventStoreDbGroupStanding implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #options: EventStoreDbOptions;
  #connection: EventStoreDbConnection | undefined;

  /** Connects at the first call. */
  constructor(log: EventLog, options: EventStoreDbOptions) {
    this.#log = log;
    this.#options = options;
  }

  /**
   * Counts the events of one receiver behind the checkpoint. The server saves that every two seconds, so events
   * acknowledged since then are counted, too: rather too many than one too few.
   */
  async of(receiver: string, streamPrefix: string): Promise<DeliveryStanding> {
    const position = checkpointOf(await this.#info(receiver));
    const { count, oldest } = await waitingAfter(this.#log, position, streamPrefix);
    return { position, waiting: count, oldest };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
  }

  async #info(receiver: string): Promise<PersistentSubscriptionToAllInfo | undefined> {
    this.#connection ??= new EventStoreDbConnection(this.#options);
    try {
      return await groupInfo(this.#connection, GROUP);
    } catch (error) {
      throw translated(`Asking how far the ${receiver} is`, error);
    }
  }
}
