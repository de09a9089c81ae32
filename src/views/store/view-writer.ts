import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { workers } from '../../tools/workers.ts';
import type { ViewSchema } from '../view-store.ts';
import { viewUnavailable } from '../view-unavailable.ts';
import { errorOf, type SqliteFault } from './sqlite-errors.ts';
import type { ViewFile } from './view-file.ts';
import type { ViewChanges } from './view-statements.ts';

/** A job for the worker thread that writes view files. */
export type ViewJob =
  | { readonly kind: 'write'; readonly file: string; readonly changes: ViewChanges }
  | { readonly kind: 'add-lookups'; readonly file: string; readonly shape: ViewSchema };

export type ViewJobDone = { readonly fault?: SqliteFault };

/**
 * Writes views in a worker thread, so that one core reads events while another one writes the resulting
 * views.
 */
export class ViewWriter implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #jobs: PromiseWithResolvers<void>[] = [];

  constructor() {
    const program = `./view-writer-worker${path.extname(import.meta.filename)}`;
    this.#worker = workers.start(new URL(program, import.meta.url), { name: 'view-writer' });
    this.#worker.on('message', ({ fault }: ViewJobDone) => {
      const job = this.#jobs.shift();
      if (fault === undefined) job?.resolve();
      else job?.reject(errorOf(fault));
    });
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('The thread that writes views has ended.')));
  }

  /**
   * Writes what the table has accepted until now. @throws {ViewUnavailable} the table has the changes again.
   */
  async write(table: ViewFile): Promise<void> {
    const handed = table.handOver();
    if (!handed) return;
    try {
      await this.#do(table, { kind: 'write', file: table.file, changes: handed.changes });
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw error;
    }
  }

  /** @throws {ViewUnavailable} */
  addLookups(table: ViewFile): Promise<void> {
    const { name, version, indexes, countedBy } = table.shape;
    const shape = { name, version, ...(indexes && { indexes }), ...(countedBy && { countedBy }) };
    return this.#do(table, { kind: 'add-lookups', file: table.file, shape });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  async #do(table: ViewFile, job: ViewJob): Promise<void> {
    const asked = Promise.withResolvers<void>();
    this.#jobs.push(asked);
    this.#worker.postMessage(job);
    try {
      await asked.promise;
    } catch (error) {
      throw viewUnavailable(table, 'written', error);
    }
  }

  #end(reason: Error): void {
    for (const job of this.#jobs.splice(0)) job.reject(reason);
  }
}
