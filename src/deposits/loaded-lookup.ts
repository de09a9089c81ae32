import { type DepositStatusView, depositLists } from '../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects } from '../../projections/loaded-objects.ts';
import type { DepositFilter } from '../contents/deposit-filter.ts';
import { indexFor } from '../contents/loaded-deposits.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { foldStream } from '../views/fold.ts';
import type { View } from '../views/view.ts';

/** Timeout for reading from the log what was loaded since the view was updated. */
const LOG_TIMEOUT_MS = 5000;

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
  timeoutMs = LOG_TIMEOUT_MS,
): Promise<boolean> {
  const signal = clock.timeoutSignal(timeoutMs);
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
