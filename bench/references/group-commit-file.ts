import { Worker } from 'node:worker_threads';

/**
 * The limit of any durable log: lines of text at the end of a plain file. Lines that are appended during a sync go
 * into the next write, and an append resolves after the `fdatasync` that follows its write. As in the service, a
 * thread writes: syncs do not block the main thread, and all appends of one turn of the event loop cross in one
 * message.
 */
export class GroupCommitFile implements AsyncDisposable {
  readonly #worker: Worker;
  /** Callers in the order in which they are answered; the last `#unsent` have not been sent to the thread yet. */
  readonly #waiting: (() => void)[] = [];
  #unsent: string[] = [];

  constructor(file: string) {
    this.#worker = new Worker(new URL('./group-commit-writer.ts', import.meta.url), { workerData: file });
    this.#worker.on('message', (count: number) => {
      for (const resolve of this.#waiting.splice(0, count)) resolve();
    });
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  append(line: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#unsent.push(line) > 1) return;
      setImmediate(() => {
        this.#worker.postMessage(this.#unsent);
        this.#unsent = [];
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
