import { once } from 'node:events';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { workers } from '../../tools/workers.ts';
import type { ViewSchema } from '../projection.ts';
import { viewUnavailable } from '../view-unavailable.ts';
import type { ViewFile } from './view-file.ts';
import type { ViewChanges } from './view-statements.ts';

/** A job for the worker thread that writes a view file. */
export type ViewJob = { readonly file: string } & (
  | { readonly kind: 'write'; readonly changes: ViewChanges }
  | { readonly kind: 'add-lookups'; readonly schemas: readonly ViewSchema[] }
);

/** An error of SQLite in a form that can be sent between threads; cloning an Error retains only its message. */
export type ViewJobDone = {
  readonly fault?: {
    readonly message: string;
    readonly code: string | undefined;
    readonly errcode: number | undefined;
  };
};

/** Writes a view file in a worker thread: one core reads events while another one writes the resulting views. */
export class ViewWriter implements AsyncDisposable {
  readonly #file: ViewFile;
  readonly #worker: Worker;
  readonly #jobs: PromiseWithResolvers<void>[] = [];

  constructor(file: ViewFile) {
    this.#file = file;
    const program = `./view-writer-worker${path.extname(import.meta.filename)}`;
    this.#worker = workers.start(new URL(program, import.meta.url), { name: 'view-writer' });
    this.#worker.on('message', ({ fault }: ViewJobDone) => {
      const job = this.#jobs.shift();
      if (fault === undefined) job?.resolve();
      else job?.reject(Object.assign(new Error(fault.message), fault));
    });
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('The thread that writes views has ended.')));
  }

  /** Writes what the file has accepted until now. @throws {ViewUnavailable} the file has the changes again. */
  async write(): Promise<void> {
    const handed = this.#file.handOver();
    if (!handed) return;
    try {
      await this.#do({ kind: 'write', file: this.#file.path, changes: handed.changes });
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw error;
    }
  }

  /** @throws {ViewUnavailable} */
  async addLookups(): Promise<void> {
    const schemas = this.#file.schemas.map(
      ({ name, version, indexes = [], countedBy = [], texts = [], labels }) => {
        const lookups = { indexes, countedBy, texts, ...(labels !== undefined && { labels }) };
        return { name, version, ...lookups }; // functions cannot be sent to a thread
      },
    );
    await this.#do({ kind: 'add-lookups', file: this.#file.path, schemas });
    this.#file.lookupsAdded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  async #do(job: ViewJob): Promise<void> {
    const asked = Promise.withResolvers<void>();
    this.#jobs.push(asked);
    this.#worker.postMessage(job);
    try {
      await asked.promise;
    } catch (error) {
      throw viewUnavailable(this.#file.path, 'written', error);
    }
  }

  #end(reason: Error): void {
    for (const job of this.#jobs.splice(0)) job.reject(reason);
  }
}
