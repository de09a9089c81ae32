import path from 'node:path';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import { openArchiveStore } from './archive-store/open-archive-store.ts';
import type { Config } from './config.ts';
import type { Deliveries } from './event-log/deliveries.ts';
import type { EventLog } from './event-log/event-log.ts';
import { openDeliveries, openEventLog } from './event-log/open-event-log.ts';

export { openView, viewsPlace } from './views-place.ts';

/** The event log alone, for commands that run beside the service. */
export function openLog(
  { eventLog }: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  return openEventLog(eventLog, options);
}

/** The archive store alone, for commands that run beside the service. */
export function openStore({
  archiveStore,
  dataDir,
}: Pick<Config, 'archiveStore' | 'dataDir'>): Promise<ArchiveStore> {
  return openArchiveStore(archiveStore, dataDir);
}

/** What feeds the reactors of this configuration. */
export function openDeliveriesOf(
  config: Config,
  log: EventLog,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  return openDeliveries(config.eventLog, log, path.join(config.dataDir, 'checkpoints'));
}
