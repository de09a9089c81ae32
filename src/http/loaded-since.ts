import { loadedObjects } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../event-log/event-log.ts';
import { foldStream } from '../read-models/fold.ts';

/** How long the log may take to tell what has come since the views, in milliseconds. */
const PATIENCE = 5000;

/**
 * Whether a deposit of the client that `fits` was loaded behind `position`: what the views do not know of may have
 * come there, on whichever node.
 * @throws {EventLogUnavailable} the log does not tell in time, so that it is not known
 */
export async function wasLoadedSince(
  log: EventLog,
  position: Position | undefined,
  client: string,
  fits: (loaded: DepositLoaded['data']) => boolean,
  patience = PATIENCE,
): Promise<boolean> {
  const signal = AbortSignal.timeout(patience);
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
