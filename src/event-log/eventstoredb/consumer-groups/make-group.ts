import type { GroupStart } from '../../consumer-groups/consumer-group.ts';
import type { Position } from '../../event-log.ts';
import type { EventStoreDbConnection } from '../connection.ts';
import { factsOf } from '../errors.ts';
import { checkpointOf, createGroup, GROUP, type GroupMade, groupInfo } from './group.ts';

export type MakeGroupOptions = {
  /** Groups of older releases: a new group starts at the lowest of their positions. */
  readonly retiredGroups: readonly string[];
  /** Start position of the group when no such older group exists. */
  readonly start: GroupStart;
};

/** Creates the group of the reactors unless it exists. If this user may not, an operator has to create it. */
export async function makeGroup(
  connection: EventStoreDbConnection,
  { retiredGroups, start }: MakeGroupOptions,
  signal: AbortSignal,
): Promise<GroupMade> {
  // A user who may not read the information of groups may not create them either: then an operator has
  // created the group.
  const info = await groupInfo(connection, GROUP, signal).catch(unlessDenied);
  if (info) return info === 'denied' ? 'denied' : 'was there';
  const checkpoints: (Position | undefined)[] = [];
  for (const group of retiredGroups) {
    const info = await groupInfo(connection, group, signal).catch(unlessDenied);
    if (info && info !== 'denied') checkpoints.push(checkpointOf(info));
  }
  const after = checkpoints.length > 0 ? lowest(checkpoints) : await start();
  return await createGroup(connection, after, signal);
}

export function unlessDenied(error: unknown): 'denied' {
  if (factsOf(error).type === 'access-denied') return 'denied';
  throw error;
}

/** Returns the lowest position; `undefined`, the beginning of the log, if one group has no position. */
export function lowest(positions: readonly (Position | undefined)[]): Position | undefined {
  const known = positions.filter((position) => position !== undefined);
  return known.length < positions.length ? undefined : known.sort()[0];
}
