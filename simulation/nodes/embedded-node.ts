import path from 'node:path';
import { clientLogins } from '../../projections/client-logins.ts';
import { openDeposits } from '../../src/deposits/client-write.ts';
import { KeptStates } from '../../src/deposits/kept-states.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { ResumableUploads } from '../../src/modules/resumable-uploads/resumable-uploads.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { logObserver, observedReader } from '../../src/observability/port-observers.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { notificationViews } from '../../src/reactors/sweep/notification-views.ts';
import { startReactors } from '../../src/service/start-reactors.ts';
import { observed } from '../../src/tools/observed.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import type { Incarnation } from '../world/host.ts';
import { drainBefore } from './drain-before.ts';
import { nodeLogger } from './node-logger.ts';
import type { NodeOptions, SimulatedNode } from './simulated-node.ts';
import { BASE_URL, MAX_ARCHIVES, reactorConfig } from './site-settings.ts';

const UPLOAD_LIMITS = { maxSize: 1e9, perClient: 1000, totalSize: 1e9, expiry: 86_400_000 };

/** Starts a node with the embedded log and store, and all roles, as `src/service/open-node.ts` does it. */
export async function startEmbedded(process: Incarnation, options: NodeOptions): Promise<SimulatedNode> {
  const { onError, onFailure, stuckAfter } = options;
  const folder = folderOf(process);
  const fail = (error: unknown): void => onFailure(process.host, error);
  const logger = nodeLogger(onError);
  await using opened = new AsyncDisposableStack();
  const log = opened.use(observed(await openLogIn(folder), logObserver(logger)));
  const store = opened.use(
    await openStoreIn(folder, (reason) =>
      logger.error({ reason }, `the archive store lost objects: ${reason}`),
    ),
  );
  const uploads = opened.use(
    await ResumableUploads.open({ folder: path.join(folder, 'uploads'), limits: UPLOAD_LIMITS, logger }),
  );
  const deliveries = new CatchUpDeliveries(log, path.join(folder, 'reactors'));
  const tables = opened.use(SqliteViewStore.open(path.join(folder, 'views'), 'sqlite'));
  const projector = new Projector(log, tables);
  opened.defer(() => projector.stop());
  const kept = new KeptStates<Deposit>();
  const deposits = openDeposits({ log, projector, isShared: false, maxArchives: MAX_ARCHIVES, kept });
  const notified = notificationViews(projector);
  projector.add(clientLogins);
  const viewsReady = projector.start(fail);
  const config = reactorConfig(stuckAfter);
  const node = {
    config,
    log,
    kept,
    store,
    deliveries,
    logger,
    resources: opened,
    projector,
    notified,
    parking: new EventLogParking(log),
    observedReader,
    fail,
  };
  const reactors = startReactors(node, BASE_URL, viewsReady);
  const openRequests = drainBefore(opened, store, reactors);
  await viewsReady;
  const resources = opened.move();
  return {
    process,
    shown: (view) => shownIn(tables, view),
    projector,
    store,
    resources,
    openRequests,
    deposits,
    uploads,
  };
}

export function openLogIn(folder: string): Promise<SqliteEventLog> {
  return SqliteEventLog.open({ file: path.join(folder, 'event-log.sqlite') });
}

export function openStoreIn(
  folder: string,
  onLost?: (reason: string) => void,
): Promise<FilesystemObjectStore> {
  return FilesystemObjectStore.open({ folder: path.join(folder, 'archives'), onLost });
}

export function folderOf({ host }: Incarnation): string {
  if (!host.storage) throw new Error(`${host.name} has no disk.`);
  return host.storage.folder;
}

/** Returns a view as queries find it; `undefined` if the node has none of this name. */
export function shownIn(tables: SqliteViewStore, name: string): ReadonlyMap<string, unknown> | undefined {
  const { file } = tables;
  if (!file.versions().has(name)) return undefined;
  return new Map(Array.from(file.table(name).rows(), ([key, view]) => [key, JSON.parse(view) as unknown]));
}
