import { type DepositStatusView, depositLists } from '../../projections/deposit-status.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import type { View } from '../read-models/projector.ts';
import { wasLoadedSince } from './loaded-since.ts';

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
