import path from 'node:path';
import type { Readable } from 'node:stream';
import { type ExpectedSqliteFile, faultsOfSqliteFile } from '../../tools/sqlite/integrity.ts';
import { assertReadable } from '../../tools/sqlite/reading.ts';
import { HashingThreads } from '../hashing/hashing-threads.ts';
import { verifiedBody } from '../hashing/verified-body.ts';
import { type ListedObject, type LocalObject, type LocalSource, ObjectMissing } from '../object-store.ts';
import type { StoreAudit } from '../store-audit.ts';
import { unavailable } from '../store-errors.ts';
import { lostRows } from './last-row.ts';
import { FORMAT, OBJECT_SCHEMA, openToRead } from './object-database.ts';
import { ObjectRows } from './object-rows.ts';
import { StoredFiles } from './stored-files.ts';

const EXPECTED: ExpectedSqliteFile = {
  schema: OBJECT_SCHEMA,
  pragmas: { journal_mode: 'wal', encoding: 'UTF-8', user_version: FORMAT, application_id: 0 },
  nothing: [], // times are not checked: a clock may have been wrong, and corrected since
};

const MISPLACED = 'no object of this name belongs here, so it is never read';

/**
 * Reads the store in a folder for an audit: read-only, and unreadable rows do not prevent reading the files.
 */
export class FilesystemStoreAudit implements StoreAudit {
  readonly #database: string;
  readonly #files: StoredFiles;
  readonly #hashing = new HashingThreads();
  #rows: ObjectRows | undefined;

  /** @throws {WalNotReadable} reading the small objects requires write permission. */
  constructor(folder: string) {
    assertReadable(path.join(folder, 'small.sqlite'));
    this.#database = path.join(folder, 'small.sqlite');
    this.#files = new StoredFiles(folder);
  }

  async get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    const found = await this.#find(sha256);
    const bytes = found.kind === 'bytes' ? [found.bytes] : this.#files.bytes(sha256);
    const { length } = found;
    return { length, body: verifiedBody({ sha256, length }, bytes, this.#hashing.begin()) };
  }

  async stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    const row = this.#rowOf((rows) => rows.length(sha256));
    const length = row.value ?? (await this.#files.length(sha256));
    if (length === undefined && row.fault) throw row.fault;
    return length === undefined ? undefined : { length };
  }

  async materialize(sha256: string): Promise<LocalObject> {
    const { length, ...source } = await this.#find(sha256);
    return { length, source, [Symbol.asyncDispose]: async () => {} };
  }

  /** Yields all objects. An error that prevented listing all rows is thrown at the end. */
  async *list(): AsyncGenerator<ListedObject> {
    let fault: unknown;
    try {
      yield* this.#open().list();
    } catch (error) {
      fault = error;
    }
    for await (const object of this.#files.list()) {
      if (this.#rowOf((rows) => rows.length(object.sha256)).value === undefined) yield object;
    }
    if (fault) throw fault;
  }

  async structure(): Promise<readonly { readonly file: string; readonly text: string }[]> {
    const database = this.#database;
    const faults = (await faultsOfSqliteFile(database, EXPECTED)).map((text) => ({ file: database, text }));
    try {
      const lost = lostRows(database, openToRead);
      if (lost !== undefined) faults.push({ file: database, text: lost });
    } catch (error) {
      faults.push({ file: database, text: `it cannot be read: ${(error as Error).message}` });
    }
    try {
      for await (const file of this.#files.misplaced()) faults.push({ file, text: MISPLACED });
    } catch {
      // The list of objects reports a folder that cannot be read.
    }
    return faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rows?.[Symbol.dispose]();
    await this.#hashing[Symbol.asyncDispose]();
  }

  async #find(sha256: string): Promise<LocalSource & { readonly length: number }> {
    const { value: bytes, fault } = this.#rowOf((rows) => rows.bytes(sha256));
    if (bytes !== undefined) return { kind: 'bytes', bytes, length: bytes.byteLength };
    const length = await this.#files.length(sha256);
    if (length === undefined) throw fault ?? new ObjectMissing(sha256);
    return { kind: 'file', path: this.#files.pathOf(sha256), length };
  }

  #rowOf<T>(read: (rows: ObjectRows) => T): { readonly value?: T; readonly fault?: unknown } {
    try {
      return { value: read(this.#open()) };
    } catch (fault) {
      return { fault };
    }
  }

  #open(): ObjectRows {
    try {
      this.#rows ??= new ObjectRows(this.#database);
      return this.#rows;
    } catch (error) {
      throw unavailable('read', error);
    }
  }
}
