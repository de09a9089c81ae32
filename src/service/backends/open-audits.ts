import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ArchiveStoreConfig, Config, EventLogConfig } from '../../config/config.ts';
import type { LogAudit } from '../../event-log/integrity/log-audit.ts';
import type { StoreAudit } from '../../object-store/object-store.ts';
import { exists } from '../../tools/files/access.ts';
import { files } from '../../tools/files.ts';
import { assertExists } from './backend-not-found.ts';

/** Opens the configured log for an audit: read-only, and also if it is corrupt. */
export async function openLogAudit(config: EventLogConfig): Promise<LogAudit> {
  if (config.kind === 'sqlite') {
    const { SqliteLogAudit } = await import('../../event-log/sqlite/sqlite-log-audit.ts');
    return new SqliteLogAudit(config.file);
  }
  const [{ EventStoreDbEventLog }, { PlainLogAudit }] = await Promise.all([
    import('../../event-log/eventstoredb/eventstoredb-event-log.ts'),
    import('../../event-log/integrity/log-audit.ts'),
  ]);
  return new PlainLogAudit(await EventStoreDbEventLog.open(config));
}

type StoreAuditOptions = {
  /** Whether a store in a folder is read without its small objects if their file is missing. */
  readonly mayMissRows?: boolean;
};

/**
 * Opens a store that must exist for commands that only read it, also on a disk that accepts no writes.
 * @throws {BackendNotFound}
 * @throws {NotPermitted}
 * @throws {StoreFormatUnknown}
 */
export async function openStoreToRead(
  { archiveStore, dataDir }: Pick<Config, 'archiveStore' | 'dataDir'>,
  options: StoreAuditOptions = {},
): Promise<StoreAudit> {
  if (archiveStore.kind === 'file') {
    assertExists('archive store', archiveStore.folder);
    const database = path.join(archiveStore.folder, 'small.sqlite');
    exists(database); // SQLite would only report that it cannot be opened
    const { assertKnownFormat } = await import('../../object-store/filesystem/object-database.ts');
    assertKnownFormat(database);
  }
  return await openStoreAudit(archiveStore, dataDir, options);
}

/** Opens the configured store for an audit; an S3 service checks its own files. */
export async function openStoreAudit(
  config: ArchiveStoreConfig,
  dataDir: string,
  options: StoreAuditOptions = {},
): Promise<StoreAudit> {
  if (config.kind === 'file') {
    const { FilesystemStoreAudit } = await import('../../object-store/filesystem/filesystem-store-audit.ts');
    return new FilesystemStoreAudit(config.folder, options);
  }
  await using opening = new AsyncDisposableStack();
  const isWritable = await files.access(dataDir, files.constants.W_OK).then(
    () => true,
    () => false,
  );
  const folder = isWritable ? dataDir : await files.mkdtemp(path.join(tmpdir(), 'deposit-audit-'));
  if (!isWritable) opening.defer(() => files.rm(folder, { recursive: true, force: true }));
  const { S3ObjectStore } = await import('../../object-store/s3/s3-object-store.ts');
  const place = { ...config, temporaryFolder: path.join(folder, 'incoming'), mustExist: true };
  const store = opening.use(await S3ObjectStore.open(place));
  const opened = opening.move();
  return {
    get: (sha256, from) => store.get(sha256, from),
    stat: (sha256) => store.stat(sha256),
    materialize: (sha256) => store.materialize(sha256),
    list: () => store.list(),
    id: () => store.id(),
    ready: () => store.ready(),
    structure: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
