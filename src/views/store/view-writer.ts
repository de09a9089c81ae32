import { WorkerClient } from '../../tools/concurrency/worker-client.ts';
import type { ViewSchema } from '../projection.ts';
import { ViewWriterLost, viewUnavailable } from '../view-unavailable.ts';
import type { ViewFile } from './view-file.ts';
import type { ViewFileUse, ViewJob } from './view-jobs.ts';

const PROGRAM = new URL('./view-writer-worker.ts', import.meta.url);

/** Writes a view file in a worker thread, while this thread goes on. */
export class ViewWriter implements AsyncDisposable {
  readonly file: ViewFile;
  readonly #thread: WorkerClient<ViewJob, void>;

  constructor(file: ViewFile, use: ViewFileUse) {
    this.file = file;
    const toError = (cause: unknown, hasEnded: boolean) =>
      hasEnded
        ? new ViewWriterLost(`The views in ${file.path} cannot be written: ${(cause as Error).message}.`, {
            cause,
          })
        : viewUnavailable(file.path, 'written', file.notWritten(cause));
    this.#thread = new WorkerClient(PROGRAM, toError, { name: 'view-writer', workerData: use });
  }

  /** Writes what the file has accepted until now. @throws {ViewUnavailable} the file has the changes again */
  async write(): Promise<void> {
    const handed = this.file.memory.handOver();
    if (!handed) return;
    try {
      await this.#thread.call({ kind: 'write', file: this.file.path, changes: handed.changes });
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw error;
    }
  }

  /**
   * Creates the missing indexes and counters, one view after the other; `signal` ends that between two views.
   * @throws {ViewUnavailable}
   */
  async addLookups(signal?: AbortSignal): Promise<void> {
    for (const projection of this.file.schemas) {
      signal?.throwIfAborted();
      const schema = JSON.parse(JSON.stringify(projection)) as ViewSchema; // functions cannot be sent to a thread
      await this.#thread.call({ kind: 'add-lookups', file: this.file.path, schemas: [schema] });
    }
    this.file.lookupsAdded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.closeBy({ kind: 'close' });
  }
}
