import { clock } from '../../tools/clock.ts';
import type { WorkerClient } from '../../tools/concurrency/worker-client.ts';
import { openFilesOf } from '../../tools/sqlite/open-files.ts';
import { storeThread } from '../store-errors.ts';
import type { FileChange } from './file-change.ts';
import { type NewRow, packRows, type RowChange } from './row-change.ts';
import type { StoreChange, StoreWriterData } from './store-changes.ts';

const PROGRAM = new URL('./store-writer-worker.ts', import.meta.url);

/** The client of the one thread of this process that changes the store. */
export class StoreWriter implements AsyncDisposable {
  readonly #calls: WorkerClient<StoreChange, boolean>;
  /** Rows that were not sent yet. */
  #group: RowGroup | undefined;
  /** Resolves when the rows before are stored, or refused. */
  #before: Promise<unknown> = Promise.resolve();

  /** Resolves when the database exists and can be read. */
  static async open(database: string): Promise<StoreWriter> {
    const data: StoreWriterData = { file: database };
    await using opened = new AsyncDisposableStack(); // else a thread would hold the database that it could not write to
    const writer = opened.use(new StoreWriter(data));
    await writer.probe();
    data.open = openFilesOf(database); // for a thread that replaces a crashed one
    opened.move();
    return writer;
  }

  private constructor(data: StoreWriterData) {
    this.#calls = storeThread('store-writer', PROGRAM, 'write', data);
  }

  /**
   * Resolves after the commit. Rows wait for the answer to those before and for the end of the turn of the event loop:
   * they share a message and a transaction.
   */
  putRow(sha256: string, bytes: Uint8Array): Promise<unknown> {
    this.#group ??= this.#newGroup();
    this.#group.rows.push({ sha256, bytes });
    return this.#group.put;
  }

  /** Makes a change; resolves to whether there was an object to change. */
  change(change: FileChange | RowChange): Promise<boolean> {
    return this.#calls.call(change);
  }

  /** Resolves when the lock can be acquired and, after a failed change of rows, when the database can be written to. */
  async probe(): Promise<void> {
    await this.#calls.call({ kind: 'probe' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#calls.closeBy({ kind: 'close' });
  }

  #newGroup(): RowGroup {
    const rows: NewRow[] = [];
    const put = this.#before
      .then(() => clock.nextTurn())
      .then(() => {
        this.#group = undefined;
        const packed = packRows(rows);
        return this.#calls.call({ kind: 'put-rows', rows: packed }, [packed.bytes]);
      });
    this.#before = put.catch(() => undefined);
    return { rows, put };
  }
}

type RowGroup = { readonly rows: NewRow[]; readonly put: Promise<boolean> };
