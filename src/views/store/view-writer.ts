import { once } from 'node:events';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { workers } from '../../tools/workers.ts';
import { viewUnavailable } from '../view-unavailable.ts';
import type { ViewFile } from './view-file.ts';
import type { ViewFileUse, ViewJob, ViewJobDone } from './view-jobs.ts';

/** Writes a view file in a worker thread, while this thread goes on. */
export class ViewWriter implements AsyncDisposable {
  readonly file: ViewFile;
  readonly #worker: Worker;
  readonly #jobs: PromiseWithResolvers<void>[] = [];
  #ended: Error | undefined;

  constructor(file: ViewFile, use: ViewFileUse) {
    this.file = file;
    const program = `./view-writer-worker${path.extname(import.meta.filename)}`;
    this.#worker = workers.start(new URL(program, import.meta.url), {
      name: 'view-writer',
      workerData: use,
    });
    this.#worker.on('message', ({ fault }: ViewJobDone) => {
      const job = this.#jobs.shift();
      if (fault === undefined) job?.resolve();
      else job?.reject(Object.assign(new Error(fault.message), fault));
    });
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('The thread that writes views has ended.')));
  }

  /** Writes what the file has accepted until now. @throws {ViewUnavailable} the file has the changes again */
  async write(): Promise<void> {
    const handed = this.file.handOver();
    if (!handed) return;
    try {
      await this.#do({ kind: 'write', file: this.file.path, changes: handed.changes });
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
    const schemas = this.file.schemas.map(
      ({ name, version, indexes = [], countedBy = [], texts = [], labels }) => {
        const lookups = { indexes, countedBy, texts, ...(labels !== undefined && { labels }) };
        return { name, version, ...lookups }; // functions cannot be sent to a thread
      },
    );
    for (const schema of schemas) {
      signal?.throwIfAborted();
      await this.#do({ kind: 'add-lookups', file: this.file.path, schemas: [schema] });
    }
    this.file.lookupsAdded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  async #do(job: ViewJob): Promise<void> {
    if (this.#ended) throw this.#ended;
    const asked = Promise.withResolvers<void>();
    this.#jobs.push(asked);
    this.#worker.postMessage(job);
    try {
      await asked.promise;
    } catch (error) {
      throw viewUnavailable(this.file.path, 'written', this.file.notWritten(error));
    }
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const job of this.#jobs.splice(0)) job.reject(reason);
  }
}
