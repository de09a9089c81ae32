import path from 'node:path';
import { unlessMissing } from '../../tools/files/access.ts';
import { DurableFolders, syncFolder } from '../../tools/files/durable-directory.ts';
import { files } from '../../tools/files.ts';
import { isDamage } from '../../tools/sqlite/codes.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import { HashingThreads } from '../hashing/hashing-threads.ts';
import { isWhole } from '../hashing/verified-body.ts';
import { writeVerified } from '../hashing/write-verified.ts';
import { type IncomingFile, SYNC_BYTES } from '../incoming-file.ts';
import { IncomingFolder } from '../incoming-folder.ts';
import {
  type ChunkSource,
  type ExpectedContent,
  type ObjectStore,
  ObjectStoreUnavailable,
  StoreDamaged,
  type StoredObject,
  type SweepIncomingOptions,
} from '../object-store.ts';
import { OpenOperations } from '../open-operations.ts';
import { Spool } from '../spool.ts';
import { isFileSystemError, orUnavailable, readOrUnavailable, unavailable } from '../store-errors.ts';
import { formatStoreId } from '../store-id.ts';
import { FolderReader } from './folder-reader.ts';
import { lostRows } from './last-row.ts';
import { assertKnownFormat, openProblem } from './object-database.ts';
import { ObjectRows } from './object-rows.ts';
import { StoreWriter } from './store-writer.ts';
import { StoredFiles } from './stored-files.ts';

export type FilesystemStoreOptions = {
  readonly folder: string;
  /** Called on opening if stored objects were lost, as after the loss of `small.sqlite-wal`. */
  readonly onLost?: ((reason: string) => void) | undefined;
};

/**
 * Stores objects in a folder: small ones as rows of `small.sqlite`, larger ones as files. Several processes may have
 * the same folder open.
 */
export class FilesystemObjectStore extends FolderReader implements ObjectStore {
  readonly #parts: Parts;
  readonly #work = new OpenOperations();
  #proposed: string | undefined;

  /**
   * @throws {ObjectStoreUnavailable} the folder cannot be created or used.
   * @throws {StoreDamaged}
   * @throws {StoreFormatUnknown}
   */
  static async open({ folder, onLost }: FilesystemStoreOptions): Promise<FilesystemObjectStore> {
    const top = path.resolve(folder);
    await using opened = new AsyncDisposableStack();
    const incoming = await IncomingFolder.open(top, SYNC_BYTES);
    const database = path.join(top, 'small.sqlite');
    const lost = reading(() => {
      assertKnownFormat(database);
      return lostRows(database);
    });
    if (lost !== undefined) onLost?.(`${database} lost small objects: ${lost}.`);
    const hashing = opened.use(new HashingThreads());
    const writer = opened.use(await writerOf(database));
    const rows = opened.use(rowsOf(database)); // closed before the writer, which checkpoints the database
    const files = new StoredFiles(top);
    const folders = new DurableFolders(top);
    await orUnavailable('write', folders.make(files.root));
    const parts = { incoming, hashing, writer, rows, files, folders };
    return new FilesystemObjectStore({ ...parts, opened: opened.move() });
  }

  private constructor(parts: Parts) {
    super({ ...parts, rows: () => parts.rows });
    this.#parts = parts;
  }

  put(source: ChunkSource, promised: ExpectedContent = {}): Promise<StoredObject> {
    return this.#work.track(() => this.#put(source, promised));
  }

  remove(sha256: string, { storedBefore }: { readonly storedBefore?: Date } = {}): Promise<void> {
    const before = storedBefore?.getTime() ?? Infinity;
    const { writer, files } = this.#parts;
    return this.#work.track(async () => {
      await writer.change({ kind: 'remove-row', sha256, storedBefore: before });
      await writer.change({ kind: 'remove-file', file: files.pathOf(sha256), storedBefore: before });
    });
  }

  sweepIncoming(olderThan: Date, options: SweepIncomingOptions = {}): Promise<number> {
    return this.#parts.incoming.sweep(olderThan, options);
  }

  id(): Promise<string | undefined> {
    return this.#parts.files.storeId();
  }

  async setId(id: string): Promise<void> {
    await this.#writeId(id, this.#parts.files.idFile);
    if (this.#proposed !== undefined) await files.rm(this.#proposed, { force: true }).catch(() => {}); // it is swept later
    this.#proposed = undefined;
  }

  async proposeId(id: string): Promise<void> {
    this.#proposed = this.#parts.incoming.pathOf(id);
    await this.#writeId(id, this.#proposed);
  }

  isProposed(id: string): Promise<boolean> {
    const reading = files.stat(this.#parts.incoming.pathOf(id)).catch(unlessMissing(undefined));
    return orUnavailable('read its id', reading).then((found) => found !== undefined);
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

  async #writeId(id: string, file: string): Promise<void> {
    const { incoming, writer } = this.#parts;
    await using written = await incoming.create();
    await written.write(Buffer.from(formatStoreId(id)));
    await written.flush();
    await writer.change({ kind: 'place-file', from: written.path, file });
    written.keep();
    await orUnavailable('write its id', syncFolder(path.dirname(file)));
  }

  async #put(source: ChunkSource, promised: ExpectedContent): Promise<StoredObject> {
    const { incoming, hashing, writer } = this.#parts;
    await using spool = new Spool(() => incoming.create());
    using hash = hashing.begin({ md5: promised.md5 !== undefined });
    const stored = await writeVerified(source, promised, hash, spool);
    if (spool.file === undefined) await writer.putRow(stored.sha256, spool.bytes());
    else await this.#putFile(spool.file, stored);
    return stored;
  }

  /**
   * Moves the file to its name. An intact file of that name stays and gets the present time, a corrupt one is replaced.
   */
  async #putFile(incoming: IncomingFile, stored: StoredObject): Promise<void> {
    const { rows, files, folders, writer } = this.#parts;
    const file = files.pathOf(stored.sha256);
    const folder = path.dirname(file);
    await incoming.flush();
    await orUnavailable('write', folders.make(folder));
    const isStored = (await this.#isStored(stored)) && (await writer.change({ kind: 'touch-file', file }));
    if (!isStored) {
      await writer.change({ kind: 'place-file', from: incoming.path, file });
      incoming.keep();
    }
    await orUnavailable('write', syncFolder(folder));
    // Such a row is from a time when larger objects were small; it may be corrupt, the file is not.
    if (readOrUnavailable(() => rows.length(stored.sha256)) === undefined) return;
    await writer.change({ kind: 'remove-row', sha256: stored.sha256, storedBefore: Infinity });
  }

  /** Whether the file of the object is intact. One that cannot be read is not. */
  async #isStored(object: StoredObject): Promise<boolean> {
    const { files, hashing } = this.#parts;
    try {
      if ((await files.length(object.sha256)) !== object.length) return false;
      return await isWhole(object, files.bytes(object.sha256), hashing.begin());
    } catch {
      return false;
    }
  }
}

type Parts = {
  readonly incoming: IncomingFolder;
  readonly hashing: HashingThreads;
  readonly writer: StoreWriter;
  readonly rows: ObjectRows;
  readonly files: StoredFiles;
  readonly folders: DurableFolders;
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

async function writerOf(database: string): Promise<StoreWriter> {
  try {
    return await StoreWriter.open(database);
  } catch (error) {
    const { cause } = error as Error; // the error of the thread names no database
    throw cause instanceof Error ? openError(database, cause) : error;
  }
}

function rowsOf(database: string): ObjectRows {
  try {
    return openTwice(() => new ObjectRows(database));
  } catch (cause) {
    throw openError(database, cause as Error);
  }
}

/** Returns the error of a database that SQLite cannot open; corruption is a {@link StoreDamaged}. */
function openError(database: string, cause: Error): Error {
  const Kind = isDamage(cause) ? StoreDamaged : ObjectStoreUnavailable;
  return new Kind(openProblem(database, cause), { cause });
}
