import { type DepositStatusView, depositLists } from '../../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects } from '../../../projections/loaded-objects.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { DepositLoaded } from '../../domain/deposit/events.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../../event-log/event-log.ts';
import { foldStream } from '../../read-models/fold.ts';
import type { View } from '../../read-models/projector.ts';
import type { DepositConditions } from '../../resolving/deposit-conditions.ts';
import { indexFor } from '../../resolving/loaded-deposits.ts';
import { clock } from '../../tools/clock.ts';

/** How long the log may take to tell what has come since the views, in milliseconds. */
const PATIENCE = 5000;

/**
 * Whether a deposit of this client from this origin is done, as far as anybody can have been told. What a view
 * knows as done stays done; what it does not know may have come behind its `position`: that part of the log is read.
 * @throws {EventLogUnavailable} the log does not tell, so that it is not known
 */
export async function isLoadedOrigin(
  { client, origin }: { readonly client: string; readonly origin: string },
  view: Pick<View<DepositStatusView>, 'find'>,
  position: Position | undefined,
  log: EventLog,
  patience?: number,
): Promise<boolean> {
  const done = { index: depositLists.ofOrigin, equal: { client, origin, status: 'done' } };
  if (view.find({ ...done, limit: 1 }).length > 0) return true;
  return wasLoadedSince(log, position, client, (loaded) => loaded.origin === origin, patience);
}

/** The same of a deposit that has all these objects. */
export async function isLoadedObject(
  client: string,
  conditions: DepositConditions,
  view: Pick<View<LoadedObjects>, 'find'>,
  position: Position | undefined,
  log: EventLog,
): Promise<boolean> {
  const query = { index: indexFor(conditions), equal: { client, ...conditions }, limit: 1 };
  if (view.find(query).length > 0) return true;
  const wanted = Object.entries(conditions) as [keyof DepositConditions, string][];
  return wasLoadedSince(log, position, client, (loaded) =>
    wanted.every(([field, value]) => loaded[field] === value),
  );
}

/** Whether a deposit of the client that `fits` was loaded behind `position`, on whichever node. */
async function wasLoadedSince(
  log: EventLog,
  position: Position | undefined,
  client: string,
  fits: (loaded: DepositLoaded['data']) => boolean,
  patience = PATIENCE,
): Promise<boolean> {
  const signal = clock.timeoutSignal(patience);
  try {
    for await (const stored of log.readAll({ after: position, streamPrefixes: [deposits.prefix], signal })) {
      if (stored.type !== 'DepositLoaded') continue;
      const event = deposits.codec.read(stored);
      if (event.type !== 'DepositLoaded' || !fits(event.data)) continue;
      const deposit = await foldStream(loadedObjects, log.readStream(stored.stream, { signal }));
      if (deposit?.client === client) return true;
    }
    return false;
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new EventLogUnavailable('The event log did not tell in time what has been loaded.', { cause });
  }
}
