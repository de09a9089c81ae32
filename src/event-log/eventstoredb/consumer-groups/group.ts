import {
  type PersistentSubscriptionToAllInfo,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  START,
} from '@eventstore/db-client';
import type { Position } from '../../event-log.ts';
import type { CallOptions, EventStoreDbConnection } from '../connection.ts';
import { factsOf } from '../errors.ts';
import { toLogPosition, toPosition } from '../position.ts';

/** The persistent subscription on `$all` that all reactor nodes share as competing consumers. */
export const GROUP = 'reactors';

/** Longer than any check takes: after a time-out the work continues, and another node starts it as well. */
const MESSAGE_TIMEOUT_MS = 3_600_000;
/** This service counts attempts itself; the server must never park an event on its own. */
const MAX_RETRY_COUNT = 1_000_000;
/**
 * A group that is catching up stops for all nodes once this many events wait for one node whose buffer is
 * full.
 */
const SERVER_BUFFER = 5000;
const READ_BATCH = 500;

/** `denied`: another user has to create the group, or has done so, which connecting to it shows. */
export type GroupMade = 'created' | 'was there' | 'denied';

/**
 * Creates the group after `after` unless it exists. It has no filter: with a filter, the server's checkpoint
 * passes events that were never acknowledged, and drops one more when it is loaded.
 */
export async function createGroup(
  connection: EventStoreDbConnection,
  after: Position | undefined,
  signal: AbortSignal,
): Promise<GroupMade> {
  const settings = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom: after === undefined ? START : toLogPosition(after),
    messageTimeout: MESSAGE_TIMEOUT_MS,
    maxRetryCount: MAX_RETRY_COUNT,
    checkPointLowerBound: 1, // with the default up to nine acknowledged events count as waiting
    historyBufferSize: SERVER_BUFFER,
    liveBufferSize: SERVER_BUFFER,
    readBatchSize: READ_BATCH,
    consumerStrategyName: PINNED, // the events of one stream go to one consumer, in order
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
