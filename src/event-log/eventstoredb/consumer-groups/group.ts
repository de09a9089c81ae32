import {
  type PersistentSubscriptionToAllInfo,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  START,
} from '@eventstore/db-client';
import type { GroupStart } from '../../consumer-groups/deliveries.ts';
import type { Position } from '../../event-log.ts';
import type { CallOptions, EventStoreDbConnection } from '../connection.ts';
import { factsOf, unlessDenied } from '../errors.ts';
import { toLogPosition, toPosition } from '../position.ts';

/** The persistent subscription on `$all` that all reactor nodes share as competing consumers. */
export const GROUP = 'reactors';

/** Longer than any check takes: after a time-out the work continues, and another node starts it as well. */
const MESSAGE_TIMEOUT_MS = 3_600_000;
/** This service counts attempts itself; the server must never park an event on its own. */
const MAX_RETRY_COUNT = 1_000_000;
/** A group that is catching up stops for all nodes once this many events wait for one node whose buffer is full. */
const SERVER_BUFFER = 5000;
const READ_BATCH = 500;

const SETTINGS = {
  messageTimeout: MESSAGE_TIMEOUT_MS,
  maxRetryCount: MAX_RETRY_COUNT,
  checkPointLowerBound: 1, // with the default up to nine acknowledged events count as waiting
  historyBufferSize: SERVER_BUFFER,
  liveBufferSize: SERVER_BUFFER,
  readBatchSize: READ_BATCH,
  consumerStrategyName: PINNED, // the events of one stream go to one consumer, in order
} as const;

type NewGroup = {
  readonly retiredGroups: readonly string[];
  readonly start: GroupStart;
  /** Called with the information of a group that exists. */
  readonly onFound?: ((info: PersistentSubscriptionToAllInfo) => void) | undefined;
};

/** `denied`: another user has to create the group, or has done so, which connecting to it shows. */
type GroupMade = 'created' | 'was there' | 'denied';

/**
 * Creates the group of the reactors unless it exists. It begins at the lowest position of the retired groups, those of
 * older releases, or else at `start`. If this user may not, an operator has to create it.
 */
export async function makeGroup(
  connection: EventStoreDbConnection,
  { retiredGroups, start, onFound }: NewGroup,
  signal: AbortSignal,
): Promise<GroupMade> {
  // A user who may not read the information of groups may not create them either: then an operator has
  // created the group.
  const info = await groupInfo(connection, GROUP, signal).catch(unlessDenied);
  if (info === 'denied') return info;
  if (info) {
    onFound?.(info);
    return 'was there';
  }
  const checkpoints: (Position | undefined)[] = [];
  for (const group of retiredGroups) {
    const retired = await groupInfo(connection, group, signal).catch(unlessDenied);
    if (retired && retired !== 'denied') checkpoints.push(checkpointOf(retired));
  }
  return createGroup(connection, checkpoints.length > 0 ? lowest(checkpoints) : await start(), signal);
}

/**
 * Creates the group after `after` unless it exists. It has no filter: with a filter, the server's checkpoint passes
 * events that were never acknowledged, and drops one more when it is loaded.
 */
async function createGroup(
  connection: EventStoreDbConnection,
  after: Position | undefined,
  signal: AbortSignal,
): Promise<GroupMade> {
  const settings = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom: after === undefined ? START : toLogPosition(after),
    ...SETTINGS,
  });
  try {
    await connection.call(
      (client, options) => client.createPersistentSubscriptionToAll(GROUP, settings, options),
      signal,
    );
    return 'created';
  } catch (error) {
    const { type } = factsOf(error);
    if (type === 'persistent-subscription-exists') return 'was there';
    if (type === 'access-denied') return 'denied';
    throw error;
  }
}

/** Returns the settings of a group that differ from those of this release. The server does not report a filter. */
export function otherSettings({ settings }: PersistentSubscriptionToAllInfo): readonly string[] {
  return Object.entries(SETTINGS)
    .map(([name, own]) => ({ name, own, found: settings[name as keyof typeof SETTINGS] }))
    .filter(({ own, found }) => own !== found)
    .map(({ name, own, found }) => `${name} is ${String(found)} instead of ${own}`);
}

/** Resolves to the server's information about a group; `undefined` when there is no such group. */
export async function groupInfo(
  connection: EventStoreDbConnection,
  group: string,
  signal?: AbortSignal,
): Promise<PersistentSubscriptionToAllInfo | undefined> {
  try {
    return await connection.call(
      (client, options: CallOptions) => client.getPersistentSubscriptionToAllInfo(group, options),
      signal,
    );
  } catch (error) {
    if (factsOf(error).type === 'persistent-subscription-does-not-exist') return undefined;
    throw error;
  }
}

/** Returns the position that the server would load the group from; `undefined` for the beginning. */
export function checkpointOf(info: PersistentSubscriptionToAllInfo | undefined): Position | undefined {
  const checkpoint = info?.stats.lastCheckpointedEventPosition;
  return checkpoint && toPosition(checkpoint);
}

/** Returns the lowest position; `undefined`, the beginning of the log, if one group has no position. */
export function lowest(positions: readonly (Position | undefined)[]): Position | undefined {
  const known = positions.filter((position) => position !== undefined);
  return known.length < positions.length ? undefined : known.sort()[0];
}
