import { type DepositStatusView, depositLists, depositStatus } from '../../projections/deposit-status.ts';
import { deposits } from '../domain/aggregates.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../event-log/event-log.ts';
import { foldStream } from '../read-models/fold.ts';
import type { View } from '../read-models/projector.ts';

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
  patience = PATIENCE,
): Promise<boolean> {
  const done = { index: depositLists.ofOrigin, equal: { client, origin, status: 'done' } };
  if (view.find({ ...done, limit: 1 }).length > 0) return true;
  const signal = AbortSignal.timeout(patience);
  try {
    return await wasLoadedAfter(position, { client, origin }, log, signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new EventLogUnavailable('The event log did not tell in time which origins are loaded.', { cause });
  }
}

async function wasLoadedAfter(
  after: Position | undefined,
  { client, origin }: { readonly client: string; readonly origin: string },
  log: EventLog,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const stored of log.readAll({ after, streamPrefixes: [deposits.prefix], signal })) {
    if (stored.type !== 'DepositLoaded') continue;
    const event = deposits.codec.read(stored);
    if (event.type !== 'DepositLoaded' || event.data.origin !== origin) continue;
    const deposit = await foldStream(depositStatus, log.readStream(stored.stream, { signal }));
    if (deposit?.client === client) return true;
  }
  return false;
}
