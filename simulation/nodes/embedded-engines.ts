import path from 'node:path';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import type { Deliveries } from '../../src/event-log/consumer-groups/deliveries.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { ResumableUploads } from '../../src/modules/resumable-uploads/resumable-uploads.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { logObserver } from '../../src/observability/port-observers.ts';
import type { Logger } from '../../src/tools/logger.ts';
import { observed } from '../../src/tools/observed.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { type Incarnation, running } from '../world/host.ts';

const UPLOAD_LIMITS = { maxSize: 1e9, perClient: 1000, totalSize: 1e9, expiry: 86_400_000 };

/** Log, store and views of a node. */
export type Engines = {
  readonly log: EventLog;
  readonly store: ObjectStore;
  readonly views: SqliteViewStore;
  readonly openDeliveries: () => Deliveries;
  /** On embedded nodes. */
  readonly uploads?: ResumableUploads;
};

/** Opens the engines of an embedded node, on the disk of its host. */
export async function openEmbedded(
  process: Incarnation,
  resources: AsyncDisposableStack,
  logger: Logger,
): Promise<Engines> {
  const folder = folderOf(process);
  const log = resources.use(observed(await openLogIn(folder), logObserver(logger)));
  const onLost = (reason: string): void =>
    logger.error({ reason }, `the archive store lost objects: ${reason}`);
  const store = resources.use(await openStoreIn(folder, onLost));
  const uploads = resources.use(
    await ResumableUploads.open({ folder: path.join(folder, 'uploads'), limits: UPLOAD_LIMITS, logger }),
  );
  const views = resources.use(new SqliteViewStore(path.join(folder, 'views'), 'sqlite'));
  const openDeliveries = () => new CatchUpDeliveries(log, path.join(folder, 'reactors'));
  return { log, store, views, openDeliveries, uploads };
}

/** Runs work of an operator next to an embedded node, as a command does it. */
export function asEmbeddedOperator<Result>(
  process: Incarnation,
  work: (log: EventLog, openStore: () => Promise<ObjectStore>) => Promise<Result>,
): Promise<Result> {
  return running.run(process, async () => {
    const folder = folderOf(process);
    await using log = await openLogIn(folder);
    return await work(log, () => openStoreIn(folder));
  });
}

function openLogIn(folder: string): Promise<SqliteEventLog> {
  return SqliteEventLog.open({ file: path.join(folder, 'event-log.sqlite') });
}

function openStoreIn(folder: string, onLost?: (reason: string) => void): Promise<FilesystemObjectStore> {
  return FilesystemObjectStore.open({ folder: path.join(folder, 'archives'), onLost });
}

export function folderOf({ host }: Incarnation): string {
  if (!host.storage) throw new Error(`${host.name} has no disk.`);
  return host.storage.folder;
}

/** Returns a view as queries find it; `undefined` if the node has none of this name. */
export function shownIn(tables: SqliteViewStore, name: string): ReadonlyMap<string, unknown> | undefined {
  const { file } = tables;
  if (!file.schemas.some((schema) => schema.name === name)) return undefined;
  return new Map(Array.from(file.table(name).rows(), ({ key, view }) => [key, JSON.parse(view) as unknown]));
}
