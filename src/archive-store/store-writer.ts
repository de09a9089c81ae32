import type { FileChange } from './file-change.ts';
import type { RowChange } from './row-change.ts';
import type { StoreChange } from './store-writer-worker.ts';
import { WorkerCalls } from './worker-calls.ts';

const PROGRAM = new URL('./store-writer-worker.ts', import.meta.url);

/** The one thread of this process that changes what the store shows. */
export class StoreWriter implements AsyncDisposable {
  readonly #calls: WorkerCalls<StoreChange, boolean>;

  /** Resolves when the database is there to be read. */
  static async open(database: string): Promise<StoreWriter> {
    const writer = new StoreWriter(database);
    await writer.probe();
    return writer;
  }

  private constructor(database: string) {
    this.#calls = new WorkerCalls(PROGRAM, 'write', database);
  }

  /** Resolves after the commit; gives up the bytes, which have to be alone in their buffer. */
  async putRow(sha256: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#calls.call({ kind: 'put-row', sha256, bytes }, [bytes.buffer]);
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
}
