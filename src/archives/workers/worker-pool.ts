import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import { reportLost, workers } from '../../tools/workers.ts';

type PoolOptions = {
  /** Maximum number of threads, which are started on first use. */
  readonly size: number;
  /** Maximum number of waiting jobs; further ones are refused. */
  readonly queueLength: number;
  readonly worker: WorkerOptions & { readonly name: string };
};

export type JobOptions = {
  /** Objects of the job to transfer instead of copy. */
  readonly transfer?: readonly Transferable[];
  /** Owner of the job: owners are served round-robin. */
  readonly owner?: string;
  /** Withdraws the job while it waits; a job that runs ends by its own means. */
  readonly signal?: AbortSignal | undefined;
};

export type PoolLoad = { readonly size: number; readonly busy: number; readonly waiting: number };

/** Interval in milliseconds at which the time of a job is checked. */
const TICK = 1000;
/** Time limit for a worker to start, in milliseconds: a machine may be slow, and its disk busy. */
const START_TIMEOUT_MS = 60_000;

/** First message of a worker, as soon as it can accept jobs. */
export const BEGUN = 'begun';

const COULD_NOT_BEGIN = 'No worker could start.';

/** The worker crashed in the job, or was stopped because the job exceeded its time limit. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted';
}

/** Too many jobs wait, or no worker could start: unrelated to the job. */
class PoolBusy extends errorsOfCode('POOL_BUSY') {}

class PoolClosed extends errorsOfCode('POOL_CLOSED') {}

/**
 * Runs jobs on a few worker threads, those of each owner in FIFO order. An idle thread does not keep the process alive.
 */
export class WorkerPool<Job, Reply> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #options: PoolOptions;
  readonly #threads: FairSemaphore;
  readonly #idle: Worker[] = [];
  /** The busy workers, and what rejects the job of each. */
  readonly #busy = new Map<Worker, (error: Error) => void>();
  readonly #begun = new WeakSet<Worker>();
  #closed = false;

  constructor(entry: URL, options: PoolOptions) {
    this.#entry = entry;
    this.#options = options;
    const { size: limit, queueLength: waiting } = options;
    const refuse = () => new PoolBusy(`More than ${waiting} jobs wait for a worker.`);
    this.#threads = new FairSemaphore({ limit, waiting, refuse });
  }

  /**
   * Resolves to the worker's reply to the job. The time limit starts when a worker accepts the job, and does not run
   * while the process is suspended.
   * @throws {JobAborted}
   * @throws {PoolBusy}
   * @throws {PoolClosed} the pool was disposed of before the reply.
   * @throws the reason of the signal
   */
  async run(
    job: Job,
    milliseconds: number,
    { transfer = [], owner = '', signal }: JobOptions = {},
  ): Promise<Reply> {
    if (this.#closed) throw new PoolClosed('The worker pool is closed.');
    using _thread = await this.#threads.acquire(owner, signal);
    signal?.throwIfAborted();
    if (this.#closed) throw new PoolClosed('The worker pool was closed before the job was done.');
    const worker = this.#idle.pop() ?? this.#newWorker();
    const reply = this.#replyOf(worker, milliseconds);
    worker.ref();
    try {
      worker.postMessage(job, transfer);
    } catch (error) {
      this.#busy.get(worker)?.(error as Error); // a DataCloneError: nothing reached the worker
    }
    return await reply;
  }

  /** Like `run`, but returns `undefined` if another job waits or no started thread is idle: none is started for it. */
  runIfIdle(job: Job, milliseconds: number, options: JobOptions): Promise<Reply> | undefined {
    const { held, waiting } = this.#threads;
    const awaited = held - this.#busy.size; // jobs that are about to take an idle thread, or to start one
    const isIdle = !this.#closed && waiting === 0 && this.#idle.length > awaited;
    return isIdle ? this.run(job, milliseconds, options) : undefined;
  }

  /** The number of threads that were started and have not ended. */
  get started(): number {
    return this.#idle.length + this.#busy.size;
  }

  /** The maximum number of threads, the number of busy ones, and the number of waiting jobs. */
  get load(): PoolLoad {
    return { size: this.#options.size, busy: this.#threads.held, waiting: this.#threads.waiting };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const closed = new PoolClosed('The worker pool was closed before the job was done.');
    this.#threads.rejectWaiting(closed);
    const workers = [...this.#idle.splice(0), ...this.#busy.keys()];
    for (const reject of this.#busy.values()) reject(closed);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #newWorker(): Worker {
    try {
      return workers.start(this.#entry, this.#options.worker);
    } catch (cause) {
      throw new PoolBusy(COULD_NOT_BEGIN, { cause }); // the system has no thread left
    }
  }

  #replyOf(worker: Worker, milliseconds: number): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    worker.removeAllListeners();
    const late = () => abort(new JobAborted(`It took more than ${milliseconds} ms.`));
    let stopClock = this.#begun.has(worker)
      ? alarm(milliseconds, late)
      : alarm(START_TIMEOUT_MS, () => abort(new PoolBusy('No worker could start in time.')));
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
    };
    const died = (reason: string, cause?: Error) => {
      const isOfJob = this.#begun.has(worker);
      abort(isOfJob ? new JobAborted(reason, { cause }) : new PoolBusy(COULD_NOT_BEGIN, { cause }));
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
    });
    this.#busy.set(worker, abort);
    return promise;
  }

  #rest(worker: Worker): void {
    worker.unref();
    const lose = (cause: Error): void => {
      const place = this.#idle.indexOf(worker);
      if (place < 0) return; // its error has arrived before its end, or the pool is closed
      this.#idle.splice(place, 1);
      reportLost(this.#options.worker.name, cause);
    };
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`the worker thread ended with code ${code}`)));
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
