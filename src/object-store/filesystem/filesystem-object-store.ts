import path from 'node:path';
import type { Readable } from 'node:stream';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { files } from '../../tools/files.ts';
import { isDamage } from '../../tools/sqlite/codes.ts';
import { HashingThreads } from '../hashing/hashing-threads.ts';
import { verifiedBody } from '../hashing/verified-body.ts';
import { writeVerified } from '../hashing/write-verified.ts';
import type { IncomingFile } from '../incoming-file.ts';
import { IncomingFolder } from '../incoming-folder.ts';
import {
  type ExpectedContent,
  type ListedObject,
  type LocalObject,
  type LocalSource,
  ObjectMissing,
  type ObjectStore,
  ObjectStoreUnavailable,
  StoreDamaged,
  type StoredObject,
} from '../object-store.ts';
import { OpenOperations } from '../open-operations.ts';
import { Spool } from '../spool.ts';
import { hasCode, isFileSystemError, orUnavailable, unavailable } from '../store-errors.ts';
import { formatStoreId, parseStoreId, STORE_ID } from '../store-id.ts';
import { lostRows } from './last-row.ts';
import { assertKnownFormat, openToRead } from './object-database.ts';
import { ObjectFiles } from './object-files.ts';
import { ObjectRows } from './object-rows.ts';
import { StoreWriter } from './store-writer.ts';

export type FilesystemStoreOptions = {
  readonly folder: string;
  /** Called on opening if stored objects were lost, as after the loss of `small.sqlite-wal`. */
  readonly onLost?: ((reason: string) => void) | undefined;
};

/**
 * Stores objects in a folder: small ones as rows of `small.sqlite`, larger ones as files. Several processes
 * may have the same folder open. If an object is both, the row is read.
 */
export class FilesystemObjectStore implements ObjectStore {
  readonly #parts: Parts;
  readonly #work = new OpenOperations();

  /**
   * @throws {ObjectStoreUnavailable} the folder cannot be created or used.
   * @throws {StoreDamaged}
   * @throws {StoreFormatUnknown}
   */
  static async open({ folder, onLost }: FilesystemStoreOptions): Promise<FilesystemObjectStore> {
    const top = path.resolve(folder);
    await using opened = new AsyncDisposableStack();
    const incoming = await IncomingFolder.open(top);
    const database = path.join(top, 'small.sqlite');
    const lost = reading(() => {
      assertKnownFormat(database);
      return lostRows(database, openToRead);
    });
    if (lost !== undefined) onLost?.(`${database} lost small objects: ${lost}.`);
    const hashing = opened.use(new HashingThreads());
    const writer = opened.use(await StoreWriter.open(database).catch(toOpenError(database)));
    const rows = opened.use(new ObjectRows(database)); // closed before the writer, which checkpoints the database
    const files = await ObjectFiles.open(top, writer, hashing);
    const idFile = path.join(top, STORE_ID);
    return new FilesystemObjectStore({
      incoming,
      hashing,
      writer,
      rows,
      files,
      idFile,
      opened: opened.move(),
    });
  }

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  put(source: AsyncIterable<Uint8Array>, promised: ExpectedContent = {}): Promise<StoredObject> {
    return this.#work.track(() => this.#put(source, promised));
  }

  async get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    const { rows, files, hashing } = this.#parts;
    const row = rows.bytes(sha256);
    const length = row?.byteLength ?? (await files.length(sha256));
    if (length === undefined) throw new ObjectMissing(sha256);
    const bytes = row === undefined ? files.bytes(sha256) : [row];
    return { length, body: verifiedBody({ sha256, length }, bytes, hashing.begin()) };
  }

  async stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    const length = this.#parts.rows.length(sha256) ?? (await this.#parts.files.length(sha256));
    return length === undefined ? undefined : { length };
  }

  async materialize(sha256: string): Promise<LocalObject> {
    const { rows, files } = this.#parts;
    const bytes = rows.bytes(sha256);
    if (bytes !== undefined) return localObject(bytes.byteLength, { kind: 'bytes', bytes });
    const length = await files.length(sha256);
    if (length === undefined) throw new ObjectMissing(sha256);
    return localObject(length, { kind: 'file', path: files.pathOf(sha256) });
  }

  async *list(): AsyncGenerator<ListedObject> {
    const { rows, files } = this.#parts;
    yield* rows.list();
    for await (const object of files.list()) {
      if (rows.length(object.sha256) === undefined) yield object;
    }
  }

  remove(sha256: string, { storedBefore }: { readonly storedBefore?: Date } = {}): Promise<void> {
    const before = storedBefore?.getTime() ?? Infinity;
    return this.#work.track(async () => {
      await this.#parts.writer.change({ kind: 'remove-row', sha256, storedBefore: before });
      await this.#parts.files.remove(sha256, before);
    });
  }

  sweepIncoming(olderThan: Date, options: { readonly dryRun?: boolean } = {}): Promise<number> {
    return this.#parts.incoming.sweep(olderThan, options);
  }

  async id(): Promise<string | undefined> {
    const file = this.#parts.idFile;
    try {
      return parseStoreId(await files.readFile(file, 'utf8'), file);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error instanceof StoreDamaged ? error : unavailable('read its id', error);
    }
  }

  async setId(id: string): Promise<void> {
    const { incoming, writer, idFile } = this.#parts;
    await using file = await incoming.create();
    await file.write(Buffer.from(formatStoreId(id)));
    await file.flush();
    await writer.change({ kind: 'place-file', from: file.path, file: idFile });
    file.keep();
    await orUnavailable('write its id', syncFolder(path.dirname(idFile)));
  }

  async ready(): Promise<void> {
    this.#work.assertOpen();
    await this.#parts.incoming.probe();
    await this.#parts.writer.probe();
    this.#parts.rows.probe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.close();
    await this.#parts.opened.disposeAsync();
  }

  async #put(source: AsyncIterable<Uint8Array>, promised: ExpectedContent): Promise<StoredObject> {
    const { incoming, hashing, writer } = this.#parts;
    await using spool = new Spool(() => incoming.create());
    const stored = await writeVerified(source, promised, hashing, spool);
    if (spool.file === undefined) await writer.putRow(stored.sha256, spool.bytes());
    else await this.#putFile(spool.file, stored);
    return stored;
  }

  async #putFile(file: IncomingFile, stored: StoredObject): Promise<void> {
    const { rows, files, writer } = this.#parts;
    await files.adopt(file, stored);
    // Such a row is from a time when larger objects were small; it may be corrupt, the file is not.
    if (rows.length(stored.sha256) === undefined) return;
    await writer.change({ kind: 'remove-row', sha256: stored.sha256, storedBefore: Infinity });
  }
}

type Parts = {
  readonly incoming: IncomingFolder;
  readonly hashing: HashingThreads;
  readonly writer: StoreWriter;
  readonly rows: ObjectRows;
  readonly files: ObjectFiles;
  readonly idFile: string;
  readonly opened: AsyncDisposableStack;
};

/** Turns errors of the file system into the error of the port; other errors are thrown unchanged. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isFileSystemError(error) ? unavailable('read', error) : error;
  }
}

/**
 * Returns a handler that names the database in the error of the worker; corruption is thrown as {@link
 * StoreDamaged}.
 */
function toOpenError(database: string): (error: Error) => never {
  return (error) => {
    const [small, { cause }] = [`${database}, where small objects lie,`, error];
    if (!(cause instanceof Error)) throw error;
    if (!isDamage(cause))
      throw new ObjectStoreUnavailable(`${small} cannot be opened: ${cause.message}.`, { cause });
    throw new StoreDamaged(`${small} is damaged: ${cause.message}. Bring it back from a backup.`, { cause });
  };
}

function localObject(length: number, source: LocalSource): LocalObject {
  return { length, source, [Symbol.asyncDispose]: async () => {} };
}
