import { type DepositStatusView, depositLists } from '../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import { foldStream } from '../views/fold.ts';
import type { View } from '../views/view.ts';
import type { DepositFilter } from './deposit-filter.ts';
import { indexFor, searchLoaded } from './loaded-deposits.ts';

/**
 * Whether a deposit of this client from this origin is done. Includes every deposit that any node has reported as done.
 * A deposit that the view has as done stays done. Others may have been loaded after the `position` of the view: that
 * part of the log is read.
 * @throws {EventLogUnavailable} the log does not answer in time
 */
export async function isLoadedOrigin(
  { client, origin }: { readonly client: string; readonly origin: string },
  view: Pick<View<DepositStatusView>, 'find'>,
  position: Position | undefined,
  log: EventLog,
  timeoutMs?: number,
): Promise<boolean> {
  const done = { index: depositLists.ofOrigin, equal: { client, origin, status: 'done' } };
  if (view.find({ ...done, limit: 1 }).length > 0) return true;
  return wasLoadedSince(log, position, client, (loaded) => loaded.origin === origin, timeoutMs);
}

/** Whether a deposit of this client that is done has all these objects; see {@link isLoadedOrigin}. */
export async function isLoadedObject(
  client: string,
  conditions: DepositFilter,
  view: Pick<View<LoadedObjects>, 'find'>,
  position: Position | undefined,
  log: EventLog,
): Promise<boolean> {
  const query = { index: indexFor(conditions), equal: { client, ...conditions }, limit: 1 };
  if (view.find(query).length > 0) return true;
  const wanted = Object.entries(conditions) as [keyof DepositFilter, string][];
  return wasLoadedSince(log, position, client, (loaded) =>
    wanted.every(([field, value]) => loaded[field] === value),
  );
}

/** Whether any node has loaded a matching deposit of the client after `position`. */
async function wasLoadedSince(
  log: EventLog,
  position: Position | undefined,
  client: string,
  fits: (loaded: DepositLoaded['data']) => boolean,
  timeoutMs?: number,
): Promise<boolean> {
  return searchLoaded(log, position, timeoutMs, async (stored, signal) => {
    const event = deposits.codec.read(stored);
    if (event.type !== 'DepositLoaded' || !fits(event.data)) return false;
    const deposit = await foldStream(loadedObjects, log.readStream(stored.stream, { signal }));
    return deposit?.client === client;
  });
}
