import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';
import { FairQueue } from '../../tools/concurrency/fair-queue.ts';
import { workers } from '../../tools/workers.ts';

export type PoolOptions = {
  /** Maximum number of threads, which are started on first use. */
  readonly size: number;
  /** Maximum number of waiting jobs; further ones are refused. */
  readonly queueLength: number;
  readonly worker: WorkerOptions;
};

export type JobOptions = {
  /** Objects of the job to transfer instead of copy. */
  readonly transfer?: readonly Transferable[];
  /** Owner of the job: owners are served round-robin. */
  readonly owner?: string;
};

export type PoolLoad = { readonly size: number; readonly busy: number; readonly waiting: number };

/** Interval in milliseconds at which the time of a job is checked. */
const TICK = 1000;
/** Time limit for a worker to start, in milliseconds: a machine may be slow, and its disk busy. */
const START_TIMEOUT_MS = 60_000;

/** First message of a worker, as soon as it can accept jobs. */
export const BEGUN = 'begun';

/** The worker crashed in the job, or was stopped because the job exceeded its time limit. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted';
}

class PoolBusy extends Error {
  override readonly name = 'PoolBusy';
  readonly code = 'POOL_BUSY';
}

class PoolClosed extends Error {
  override readonly name = 'PoolClosed';
  readonly code = 'POOL_CLOSED';
}

type Task<Job, Reply> = {
  readonly job: Job;
  readonly transfer: readonly Transferable[];
  readonly milliseconds: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
};

/**
 * Runs jobs on a few worker threads, those of each owner in FIFO order. An idle thread does not keep the
 * process alive.
 */
export class WorkerPool<Job, Reply> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #options: PoolOptions;
  readonly #queue = new FairQueue<Task<Job, Reply>>();
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Task<Job, Reply>>();
  readonly #begun = new WeakSet<Worker>();
  #closed = false;

  constructor(entry: URL, options: PoolOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  /**
   * Resolves to the worker's reply to the job. The time limit starts when a worker accepts the job, and does
   * not run while the process is suspended.
   * @throws {JobAborted}
   * @throws {PoolBusy} too many jobs are waiting, or no worker could start: unrelated to the job.
   * @throws {PoolClosed} the pool was disposed of before the reply.
   */
  run(job: Job, milliseconds: number, { transfer = [], owner = '' }: JobOptions = {}): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new PoolClosed('The worker pool is closed.');
      if (this.#queue.size >= this.#options.queueLength) {
        throw new PoolBusy(`More than ${this.#options.queueLength} jobs wait for a worker.`);
      }
      this.#queue.add(owner, { job, transfer, milliseconds, resolve, reject });
      this.#startNext();
    });
  }

  /** The maximum number of threads, the number of busy ones, and the number of waiting jobs. */
  get load(): PoolLoad {
    return { size: this.#options.size, busy: this.#busy.size, waiting: this.#queue.size };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const unfinished = [...this.#busy.values(), ...this.#queue.takeAll()];
    const workers = [...this.#idle.splice(0), ...this.#busy.keys()];
    for (const { reject } of unfinished)
      reject(new PoolClosed('The worker pool was closed before the job was done.'));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #startNext(): void {
    if (this.#closed || this.#busy.size >= this.#options.size) return;
    const task = this.#queue.take();
    if (!task) return;
    const worker = this.#idle.pop() ?? this.#newWorker();
    if (worker instanceof Worker) this.#start(worker, task);
    else {
      task.reject(worker);
      this.#startNext();
    }
  }

  /** Starts a worker, or returns an error if the system has no thread left. */
  #newWorker(): Worker | PoolBusy {
    try {
      return workers.start(this.#entry, this.#options.worker);
    } catch (cause) {
      return new PoolBusy('No worker could begin.', { cause });
    }
  }

  #start(worker: Worker, task: Task<Job, Reply>): void {
    const { job, transfer, milliseconds, resolve, reject } = task;
    worker.removeAllListeners();
    const late = () => abort(new JobAborted(`It took more than ${milliseconds} ms.`));
    let stopClock = this.#begun.has(worker)
      ? alarm(milliseconds, late)
      : alarm(START_TIMEOUT_MS, () => abort(new PoolBusy('No worker could begin in time.')));
    const release = () => {
      stopClock();
      worker.removeAllListeners();
      this.#busy.delete(worker);
    };
    const abort = (fault: Error) => {
      release();
      // A crashed or ending worker may still emit an error, which is ignored.
      worker.on('error', () => undefined);
      void worker.terminate();
      reject(fault);
      this.#startNext();
    };
    const died = (reason: string, cause?: Error) => {
      const isOfJob = this.#begun.has(worker);
      abort(isOfJob ? new JobAborted(reason, { cause }) : new PoolBusy('No worker could begin.', { cause }));
    };
    worker.once('error', (error: Error) => died('The worker failed.', error));
    worker.once('exit', (code) => died(`The worker exited with code ${code}.`));
    worker.on('message', (reply: Reply | typeof BEGUN) => {
      if (reply === BEGUN) {
        this.#begun.add(worker);
        stopClock();
        stopClock = alarm(milliseconds, late);
        return;
      }
      if (this.#closed) return; // too late: the worker is being terminated
      release();
      this.#rest(worker);
      resolve(reply);
      this.#startNext();
    });
    this.#busy.set(worker, task);
    worker.ref();
    worker.postMessage(job, transfer);
  }

  #rest(worker: Worker): void {
    worker.unref();
    worker.once('error', () => undefined);
    worker.once('exit', () => this.#idle.splice(this.#idle.indexOf(worker), 1));
    this.#idle.push(worker);
  }
}

/** Calls `late` once the process has run for `milliseconds`. Returns a function that cancels that. */
function alarm(milliseconds: number, late: () => void): () => void {
  let [left, seen] = [milliseconds, clock.monotonic()];
  const timer = clock.setInterval(
    () => {
      const now = clock.monotonic();
      left -= Math.min(now - seen, 2 * TICK);
      seen = now;
      if (left <= 0) late();
    },
    Math.min(milliseconds, TICK),
  );
  return () => clock.clearInterval(timer);
}
