import { clock } from '../../tools/clock.ts';
import { WorkerCalls } from '../worker-calls.ts';
import type { FileChange } from './file-change.ts';
import { type NewRow, packRows, type RowChange } from './row-change.ts';
import type { StoreChange } from './store-writer-worker.ts';

const PROGRAM = new URL('./store-writer-worker.ts', import.meta.url);

/** The one thread of this process that changes what the store shows. */
export class StoreWriter implements AsyncDisposable {
  readonly #calls: WorkerCalls<StoreChange, boolean>;
  /** Rows that have not crossed yet. */
  #group: RowGroup | undefined;

  /** Resolves when the database is there to be read. */
  static async open(database: string): Promise<StoreWriter> {
    const writer = new StoreWriter(database);
    await writer.probe();
    return writer;
  }

  private constructor(database: string) {
    this.#calls = new WorkerCalls(PROGRAM, 'write', database);
  }

  /** Resolves after the commit. All rows of one turn of the event loop cross in one message. */
  putRow(sha256: string, bytes: Uint8Array): Promise<unknown> {
    this.#group ??= this.#newGroup();
    this.#group.rows.push({ sha256, bytes });
    return this.#group.put;
  }

  /** Whether there was something to change. */
  change(change: FileChange | RowChange): Promise<boolean> {
    return this.#calls.call(change);
  }

  /** Resolves when the lock can be had. */
  async probe(): Promise<void> {
    await this.#calls.call({ kind: 'probe' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#calls.call({ kind: 'close' }).catch(() => {}); // a database that fails to close is whole
    await this.#calls[Symbol.asyncDispose]();
  }

  #newGroup(): RowGroup {
    const rows: NewRow[] = [];
    const put = clock.nextTurn().then(() => {
      this.#group = undefined;
      const packed = packRows(rows);
      return this.#calls.call({ kind: 'put-rows', rows: packed }, [packed.bytes]);
    });
    return { rows, put };
  }
}

type RowGroup = { readonly rows: NewRow[]; readonly put: Promise<boolean> };
