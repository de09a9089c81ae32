import type { Transferable, Worker, WorkerOptions } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import { endedWith, reportLost, startThread } from '../../tools/workers.ts';

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
  readonly owner?: string | undefined;
  /** Withdraws the job while it waits; a job that runs ends by its own means. */
  readonly signal?: AbortSignal | undefined;
};

export type PoolLoad = { readonly size: number; readonly busy: number; readonly waiting: number };

/** Interval in milliseconds at which the time of a job is checked. */
const TICK = 1000;
/** Time limit for a worker to start, in milliseconds: a machine may be slow, and its disk busy. */
const START_TIMEOUT_MS = 60_000;

/** The message of a worker that has received a job. */
export const BEGUN = 'begun';

const NOT_BEGUN = 'No worker could begin the job.';

/** The worker crashed after it had begun the job, or was stopped because the job exceeded its time limit. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted';
}

/** Too many jobs wait, or no worker could begin the job: unrelated to the job. */
class PoolBusy extends errorsOfCode('POOL_BUSY') {}

class PoolClosed extends errorsOfCode('POOL_CLOSED') {}

/**
 * Runs jobs on a few worker threads, those of each owner in FIFO order. An idle thread does not keep the process alive.
 */
export class WorkerPool<Job, Reply> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #options: PoolOptions;
  readonly #threads: FairSemaphore;
  readonly #idle: Thread<Reply>[] = [];
  readonly #busy = new Set<Thread<Reply>>();
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
   * while the process is suspended. If an idle worker ends before that, another one gets the job, unless it has objects
   * to transfer.
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
    return await this.#runOnNext(job, milliseconds, transfer);
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
    const threads = [...this.#idle.splice(0), ...this.#busy];
    for (const { running } of this.#busy) running?.abort(closed);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  async #runOnNext(job: Job, milliseconds: number, transfer: readonly Transferable[]): Promise<Reply> {
    const idle = this.#idle.pop();
    const thread = idle ?? this.#startThread();
    const reply = this.#replyOf(thread, milliseconds);
    thread.worker.ref();
    try {
      thread.worker.postMessage(job, transfer);
    } catch (error) {
      thread.running?.abort(error as Error); // a DataCloneError: nothing reached the worker
    }
    return await reply.catch((error: unknown) => {
      const mayRepeat = idle && error instanceof PoolBusy && transfer.length === 0;
      if (!mayRepeat) throw error;
      return this.#runOnNext(job, milliseconds, transfer);
    });
  }

  #startThread(): Thread<Reply> {
    const worker = this.#newWorker();
    const thread: Thread<Reply> = { worker };
    let failure: Error | undefined;
    const lose = (cause: Error): void => {
      const place = this.#idle.indexOf(thread);
      if (place < 0) return; // it has a job, its error has arrived before its end, or it was stopped
      this.#idle.splice(place, 1);
      reportLost(this.#options.worker.name, cause);
    };
    worker.on('message', (reply: Reply | typeof BEGUN) => {
      if (reply === BEGUN) thread.running?.begin();
      else thread.running?.end(reply);
    });
    worker.on('error', (error: Error) => {
      failure = error;
      lose(error);
    });
    worker.on('exit', (code) => {
      const cause = failure ?? endedWith(code);
      lose(cause);
      thread.running?.died(cause); // all of its messages have arrived
    });
    return thread;
  }

  #newWorker(): Worker {
    try {
      return startThread(this.#entry, this.#options.worker);
    } catch (cause) {
      throw new PoolBusy(NOT_BEGUN, { cause }); // the system has no thread left
    }
  }

  #replyOf(thread: Thread<Reply>, milliseconds: number): Promise<Reply> {
    const { worker } = thread;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    let hasBegun = false;
    let stopClock = alarm(START_TIMEOUT_MS, () => abort(new PoolBusy('No worker could start in time.')));
    const release = () => {
      stopClock();
      thread.running = undefined;
      this.#busy.delete(thread);
    };
    const abort = (fault: Error) => {
      release();
      void worker.terminate();
      reject(fault);
    };
    thread.running = {
      begin: () => {
        hasBegun = true;
        stopClock();
        stopClock = alarm(milliseconds, () => abort(new JobAborted(`It took more than ${milliseconds} ms.`)));
      },
      end: (reply) => {
        release();
        worker.unref();
        this.#idle.push(thread);
        resolve(reply);
      },
      abort,
      died: (cause) => {
        if (hasBegun) return abort(new JobAborted('The worker ended.', { cause }));
        reportLost(this.#options.worker.name, cause);
        abort(new PoolBusy(NOT_BEGUN, { cause }));
      },
    };
    this.#busy.add(thread);
    return promise;
  }
}

/** A thread of the pool, and the job that it runs. */
type Thread<Reply> = { readonly worker: Worker; running?: Running<Reply> | undefined };

type Running<Reply> = {
  readonly begin: () => void;
  readonly end: (reply: Reply) => void;
  /** Rejects the job and stops the thread. */
  readonly abort: (error: Error) => void;
  readonly died: (cause: Error) => void;
};

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
