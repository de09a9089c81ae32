import { clock } from '../../../tools/clock.ts';
import { sleepUntilAborted } from '../../../tools/concurrency/sleep-until-aborted.ts';
import type { EventStoreDbConnection } from '../connection.ts';
import { factsOf } from '../errors.ts';
import { groupInfo } from './group.ts';

export type RetiredGroupsOptions = {
  /** Milliseconds between two checks. */
  readonly lookEvery?: number;
  readonly unusedFor?: number;
  readonly onDeleted?: (group: string) => void;
  /** Called once for a group that this user may not delete. */
  readonly onDenied?: (group: string) => void;
  /** Called for a group with a consumer. Unless it returns `leave it`, the group is checked again. */
  readonly onUsed?: (group: string) => 'leave it' | undefined;
};

const [LOOK_EVERY_MS, UNUSED_FOR_MS] = [60_000, 600_000];

/**
 * Deletes the groups of older releases once the server has shown no consumer on them for ten minutes. A node
 * of such a release would create a deleted group again from the start of the log, and notify again.
 */
export class RetiredGroups {
  readonly #connection: EventStoreDbConnection;
  readonly #options: RetiredGroupsOptions;
  /** By group: the time of the first check, of an unbroken series, that found no consumer. */
  readonly #unusedSince = new Map<string, number>();
  readonly #left: Set<string>;

  constructor(
    connection: EventStoreDbConnection,
    groups: readonly string[],
    options: RetiredGroupsOptions = {},
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#left = new Set(groups);
  }

  /** Resolves when all groups are deleted or in use, or `signal` aborts. */
  async deleteWhenUnused(signal: AbortSignal): Promise<void> {
    const { lookEvery = LOOK_EVERY_MS } = this.#options;
    while (!signal.aborted && this.#left.size > 0) {
      for (const group of this.#left) {
        const look = (): Promise<void> => this.#look(group, signal);
        // The first call on an idle connection may fail. A group without an answer does not count as unused.
        await look()
          .catch(look)
          .catch(() => this.#unusedSince.delete(group));
      }
      if (this.#left.size > 0) await sleepUntilAborted(lookEvery, signal);
    }
  }

  async #look(group: string, signal: AbortSignal): Promise<void> {
    const { unusedFor = UNUSED_FOR_MS, onDeleted, onDenied, onUsed } = this.#options;
    try {
      const info = await groupInfo(this.#connection, group, signal);
      if (!info) return void this.#left.delete(group);
      const now = clock.monotonic();
      if (info.connections.length > 0) {
        this.#unusedSince.delete(group);
        if (onUsed?.(group) === 'leave it') this.#left.delete(group);
        return;
      }
      const since = this.#unusedSince.get(group) ?? now;
      this.#unusedSince.set(group, since);
      if (now - since < unusedFor) return;
      await this.#connection.call(
        (client, options) => client.deletePersistentSubscriptionToAll(group, options),
        signal,
      );
      this.#left.delete(group);
      onDeleted?.(group);
    } catch (error) {
      if (factsOf(error).type !== 'access-denied') throw error;
      this.#left.delete(group);
      onDenied?.(group);
    }
  }
}
