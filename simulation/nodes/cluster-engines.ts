import path from 'node:path';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { EventStoreDbDeliveries } from '../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { type MinioArchiveStoreOptions, S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { logObserver } from '../../src/observability/port-observers.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import type { Logger } from '../../src/tools/logger.ts';
import { observed } from '../../src/tools/observed.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { type Incarnation, running } from '../world/host.ts';
import { type Engines, folderOf } from './embedded-engines.ts';
import { LOG_OPTIONS, STORE_OPTIONS } from './site-settings.ts';

const RESTART_PAUSE_MS = 500;

/** Opens the engines of a node of a cluster. */
export async function openOfCluster(
  process: Incarnation,
  resources: AsyncDisposableStack,
  logger: Logger,
): Promise<Engines> {
  const log = resources.use(observed(await EventStoreDbEventLog.open(LOG_OPTIONS), logObserver(logger)));
  const store = resources.use(await persistently(() => S3ObjectStore.open(storeOptions(process))));
  const views = resources.use(new SqliteViewStore(path.join(folderOf(process), 'views'), 'simulation'));
  const groups = { receivers: RECEIVERS, retiredGroups: RECEIVERS };
  const openDeliveries = () => resources.use(new EventStoreDbDeliveries(log, { ...LOG_OPTIONS, ...groups }));
  return { log, store, views, openDeliveries };
}

/** Returns options with a folder of the host for bodies in transit. As in a service, only reactors read what was just stored. */
function storeOptions(process: Incarnation): MinioArchiveStoreOptions {
  const recent = process.host.role !== 'http' && { recentBytes: 100_000 };
  return { ...STORE_OPTIONS, ...recent, temporaryFolder: path.join(folderOf(process), 'incoming') };
}

/** Runs work of an operator, on a machine of its own. */
export async function asOperator<Result>(
  process: Incarnation,
  work: (log: EventLog, store: ObjectStore) => Promise<Result>,
): Promise<Result> {
  return running.run(process, async () => {
    await using log = await EventStoreDbEventLog.open(LOG_OPTIONS);
    await using store = await persistently(() => S3ObjectStore.open(STORE_OPTIONS));
    return await work(log, store);
  });
}

/** Does what a supervisor does: a start that fails because an engine is away is repeated. */
export async function persistently<Result>(start: () => Promise<Result>): Promise<Result> {
  while (true) {
    try {
      return await start();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code !== 'EVENT_LOG_UNAVAILABLE' && code !== 'ARCHIVE_STORE_UNAVAILABLE') throw error;
      await new Promise((resolve) => void setTimeout(resolve, RESTART_PAUSE_MS));
    }
  }
}
