import { createHash } from 'node:crypto';
import path from 'node:path';
import { exists } from '../../tools/files/access.ts';
import { type ExpectedSqliteFile, faultsOfSqliteFile } from '../../tools/sqlite/integrity.ts';
import { assertReadable } from '../../tools/sqlite/reading.ts';
import { HashingThreads } from '../hashing/hashing-threads.ts';
import { ObjectMissing, ObjectStoreUnavailable, type StoreAudit } from '../object-store.ts';
import { FolderReader, type ReadableRows } from './folder-reader.ts';
import { lostRows } from './last-row.ts';
import { FORMAT, OBJECT_SCHEMA, openProblem } from './object-database.ts';
import { ObjectRows } from './object-rows.ts';
import { StoredFiles } from './stored-files.ts';

const EXPECTED: ExpectedSqliteFile = {
  schema: OBJECT_SCHEMA,
  pragmas: { journal_mode: 'wal', encoding: 'UTF-8', user_version: FORMAT, application_id: 0 },
  // Times are not checked: a clock may have been wrong, and corrected since.
  nothing: [
    {
      sql: `SELECT id FROM small_object
        WHERE length(CAST(sha256 AS BLOB)) <> 64 OR sha256 IS NOT lower(hex(unhex(sha256))) ORDER BY id LIMIT 100`,
      text: 'the sha256 of a row is no digest, so it is never read, with the id',
    },
  ],
};

const MISPLACED = 'no object of this name belongs here, so it is never read';
const CORRUPT_COPY = 'its bytes are others; small.sqlite has this object, too, so the file is never read';

const NO_ROWS: ReadableRows = {
  bytes: () => undefined,
  length: () => undefined,
  async *list() {},
};

/** Reads the store in a folder for an audit: read-only, and unreadable rows do not prevent reading the files. */
export class FilesystemStoreAudit extends FolderReader implements StoreAudit {
  readonly #database: string;
  readonly #files: StoredFiles;
  readonly #hashing: HashingThreads;
  #rows: ObjectRows | undefined;

  /**
   * @param mayMissRows whether a missing `small.sqlite` is read like one without rows; the store is not ready then
   * @throws {WalNotReadable} reading the small objects requires write permission.
   */
  constructor(folder: string, { mayMissRows = false } = {}) {
    const database = path.join(folder, 'small.sqlite');
    assertReadable(database);
    const [files, hashing] = [new StoredFiles(folder), new HashingThreads()];
    const rows = () => (mayMissRows && !exists(database) ? NO_ROWS : this.#open());
    super({ files, hashing, rows, tolerant: true });
    this.#database = database;
    this.#files = files;
    this.#hashing = hashing;
  }

  id(): Promise<string | undefined> {
    return this.#files.storeId();
  }

  // oxlint-disable-next-line require-await -- a fault must reject
  async ready(): Promise<void> {
    this.#open().probe();
  }

  async structure(): Promise<readonly { readonly file: string; readonly text: string }[]> {
    const database = this.#database;
    const faults = (await faultsOfSqliteFile(database, EXPECTED)).map((text) => ({ file: database, text }));
    try {
      const lost = lostRows(database);
      if (lost !== undefined) faults.push({ file: database, text: lost });
    } catch (error) {
      faults.push({ file: database, text: `it cannot be read: ${(error as Error).message}` });
    }
    try {
      for await (const file of this.#files.misplaced()) faults.push({ file, text: MISPLACED });
      for await (const fault of this.#faultsOfCopies()) faults.push(fault);
    } catch {
      // The list of objects reports a folder that cannot be read.
    }
    return faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rows?.[Symbol.dispose]();
    await this.#hashing[Symbol.asyncDispose]();
  }

  /** Yields faults of files whose objects are rows, too: the row is read, so nothing else reads such a file. */
  async *#faultsOfCopies(): AsyncGenerator<{ readonly file: string; readonly text: string }> {
    for await (const { sha256 } of this.#files.list()) {
      if (this.#open().length(sha256) === undefined) continue;
      const text = await this.#faultOfFile(sha256);
      if (text !== undefined) yield { file: this.#files.pathOf(sha256), text };
    }
  }

  async #faultOfFile(sha256: string): Promise<string | undefined> {
    try {
      const hash = createHash('sha256');
      for await (const chunk of this.#files.bytes(sha256)) hash.update(chunk);
      return hash.digest('hex') === sha256 ? undefined : CORRUPT_COPY;
    } catch (error) {
      return error instanceof ObjectMissing ? undefined : `it cannot be read: ${(error as Error).message}`;
    }
  }

  #open(): ObjectRows {
    try {
      this.#rows ??= new ObjectRows(this.#database);
      return this.#rows;
    } catch (error) {
      const cause = error as Error;
      throw new ObjectStoreUnavailable(openProblem(this.#database, cause), { cause });
    }
  }
}
