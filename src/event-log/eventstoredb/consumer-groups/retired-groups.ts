import { clock } from '../../../tools/clock.ts';
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
 * Deletes the groups of older releases once the server has shown no consumer on them for ten minutes. A node of such a
 * release would create a deleted group again from the start of the log, and notify again. Resolves when all groups are
 * deleted or in use, or `signal` aborts.
 */
export async function deleteRetiredGroups(
  connection: EventStoreDbConnection,
  groups: readonly string[],
  options: RetiredGroupsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { lookEvery = LOOK_EVERY_MS, unusedFor = UNUSED_FOR_MS, onDeleted, onDenied, onUsed } = options;
  const left = new Set(groups);
  /** By group: the time of the first check, of an unbroken series, that found no consumer. */
  const unusedSince = new Map<string, number>();
  const look = async (group: string): Promise<void> => {
    const info = await groupInfo(connection, group, signal);
    if (!info) return void left.delete(group);
    if (info.connections.length > 0) {
      unusedSince.delete(group);
      if (onUsed?.(group) === 'leave it') left.delete(group);
      return;
    }
    const now = clock.monotonic();
    const since = unusedSince.getOrInsert(group, now);
    if (now - since < unusedFor) return;
    await connection.call(
      (client, callOptions) => client.deletePersistentSubscriptionToAll(group, callOptions),
      signal,
    );
    left.delete(group);
    onDeleted?.(group);
  };
  const leaveIfDenied = (group: string, error: unknown): void => {
    if (factsOf(error).type !== 'access-denied') throw error;
    left.delete(group);
    onDenied?.(group);
  };
  const tryLook = (group: string) => look(group).catch((error: unknown) => leaveIfDenied(group, error));
  while (!signal.aborted && left.size > 0) {
    for (const group of left) {
      // The first call on an idle connection may fail. A group without an answer does not count as unused.
      await tryLook(group)
        .catch(() => tryLook(group))
        .catch(() => unusedSince.delete(group));
    }
    if (left.size > 0) await clock.sleep(lookEvery, signal).catch(() => undefined);
  }
}
