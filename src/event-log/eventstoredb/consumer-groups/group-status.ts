import type { PersistentSubscriptionToAllInfo } from '@eventstore/db-client';
import type { GroupStatus } from '../../consumer-groups/consumer-group.ts';
import { lagAfter } from '../../consumer-groups/lag.ts';
import type { EventLog } from '../../event-log.ts';
import { EventStoreDbConnection } from '../connection.ts';
import { toLogError } from '../errors.ts';
import type { EventStoreDbOptions } from '../settings.ts';
import { checkpointOf, GROUP, groupInfo } from './group.ts';

/** Reports the status of the group, as the server shows it. */
export class EventStoreDbGroupStatus implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #options: EventStoreDbOptions;
  #connection: EventStoreDbConnection | undefined;

  /** Connects at the first call. */
  constructor(log: EventLog, options: EventStoreDbOptions) {
    this.#log = log;
    this.#options = options;
  }

  /**
   * Counts the events of one receiver after the checkpoint. The server saves the checkpoint every two
   * seconds, so events acknowledged since then are counted, too.
   */
  async of(receiver: string, streamPrefix: string): Promise<GroupStatus> {
    const position = checkpointOf(await this.#info(receiver));
    const { count, oldest } = await lagAfter(this.#log, position, streamPrefix);
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
      throw toLogError(`Asking how far the ${receiver} is`, error);
    }
  }
}
