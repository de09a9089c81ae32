import type { Readable } from 'node:stream';
import type { HashingThreads } from '../hashing/hashing-threads.ts';
import { bodyFrom } from '../hashing/verified-body.ts';
import { type ListedObject, type LocalObject, type LocalSource, ObjectMissing } from '../object-store.ts';
import type { ObjectRows } from './object-rows.ts';
import type { StoredFiles } from './stored-files.ts';

export type ReadableRows = Pick<ObjectRows, 'bytes' | 'length' | 'list'>;

type FolderReaderOptions = {
  readonly files: StoredFiles;
  readonly rows: () => ReadableRows;
  readonly hashing: HashingThreads;
  /** Whether files are read also if rows cannot be. */
  readonly tolerant?: boolean;
};

/** Reads the objects of a folder: rows of `small.sqlite`, and files. If an object is both, the row is read. */
export class FolderReader {
  readonly #from: FolderReaderOptions;

  constructor(from: FolderReaderOptions) {
    this.#from = from;
  }

  async get(sha256: string, from = 0): Promise<{ readonly length: number; readonly body: Readable }> {
    const { files, hashing } = this.#from;
    const { length, source } = await this.materialize(sha256);
    const bytes = source.kind === 'bytes' ? [source.bytes.subarray(from)] : files.bytes(sha256, from);
    return { length, body: bodyFrom(from, { sha256, length }, bytes, hashing) };
  }

  async stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    const { value, fault } = this.#row((rows) => rows.length(sha256));
    const length = value ?? (await this.#from.files.length(sha256));
    if (length === undefined && fault) throw fault;
    return length === undefined ? undefined : { length };
  }

  async materialize(sha256: string): Promise<LocalObject> {
    const { value: bytes, fault } = this.#row((rows) => rows.bytes(sha256));
    if (bytes !== undefined) return localObject(bytes.byteLength, { kind: 'bytes', bytes });
    const { files } = this.#from;
    const length = await files.length(sha256);
    if (length === undefined) throw fault ?? new ObjectMissing(sha256);
    return localObject(length, { kind: 'file', path: files.pathOf(sha256) });
  }

  /** Yields all objects. If rows cannot be listed, a tolerant reader yields the files before it throws the error. */
  async *list(): AsyncGenerator<ListedObject> {
    const { rows, files, tolerant } = this.#from;
    let fault: unknown;
    try {
      yield* rows().list();
    } catch (error) {
      if (!tolerant) throw error;
      fault = error;
    }
    for await (const object of files.list()) {
      if (this.#row((all) => all.length(object.sha256)).value === undefined) yield object;
    }
    if (fault) throw fault;
  }

  #row<T>(read: (rows: ReadableRows) => T): { readonly value?: T; readonly fault?: unknown } {
    const { rows, tolerant } = this.#from;
    try {
      return { value: read(rows()) };
    } catch (fault) {
      if (!tolerant) throw fault;
      return { fault };
    }
  }
}

function localObject(length: number, source: LocalSource): LocalObject {
  return { length, source, [Symbol.asyncDispose]: async () => {} };
}
