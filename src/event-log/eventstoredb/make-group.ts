import type { GroupStart } from '../deliveries.ts';
import type { Position } from '../event-log.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { factsOf } from './faults.ts';
import { checkpointOf, createGroup, GROUP, type GroupMade, groupInfo } from './group.ts';

export type MakeGroupOptions = {
  /** Groups of older releases: a new group begins where the one that is furthest back has got to. */
  readonly retiredGroups: readonly string[];
  /** Where a group begins when none of those is there. */
  readonly start: GroupStart;
};

/** Makes the group of the reactors unless it is there, or unless this user may not: then an operator has to. */
export async function makeGroup(
  connection: EventStoreDbConnection,
  { retiredGroups, start }: MakeGroupOptions,
  signal: AbortSignal,
): Promise<GroupMade> {
  // A user who may not ask about groups may not make them either: then an operator has made the group.
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

/** Returns the position that is furthest back; `undefined`, the beginning of the log, if one group has none. */
export function lowest(positions: readonly (Position | undefined)[]): Position | undefined {
  const known = positions.filter((position) => position !== undefined);
  return known.length < positions.length ? undefined : known.sort()[0];
}
