import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import { InTurn } from '../../in-turn.ts';
import { clock } from '../../tools/clock.ts';
import { workers } from '../../tools/workers.ts';

export type PoolOptions = {
  /** Threads at most. They are started when they are first needed. */
  readonly size: number;
  /** Jobs that may wait; one more is refused. */
  readonly queueLength: number;
  readonly worker: WorkerOptions;
};

export type JobOptions = {
  /** What of the job is handed over instead of copied. */
  readonly transfer?: readonly Transferable[];
  /** Whose job it is: owners have their jobs done in turn. */
  readonly owner?: string;
};

export type PoolLoad = { readonly size: number; readonly busy: number; readonly waiting: number };

/** So often, in milliseconds, the time of a job is looked at. */
const TICK = 1000;
/** For a worker to begin, in milliseconds: a machine may be slow, and its disk busy. */
const PATIENCE_TO_BEGIN = 60_000;

/** What a worker sends first, as soon as it can take jobs. */
export const BEGUN = 'begun';

/** The worker died of the job, or was stopped because the job took too long. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted';
}

export class PoolBusy extends Error {
  override readonly name = 'PoolBusy';
  readonly code = 'POOL_BUSY';
}

export class PoolClosed extends Error {
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

/** Runs jobs on a few worker threads, those of each owner in the order they came. An idle thread does not keep the process alive. */
export class WorkerPool<Job, Reply> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #options: PoolOptions;
  readonly #queue = new InTurn<Task<Job, Reply>>();
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Task<Job, Reply>>();
  readonly #begun = new WeakSet<Worker>();
  #closed = false;

  constructor(entry: URL, options: PoolOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  /**
   * The worker's one reply to the job. The time counts from when a worker takes it, and not while the process stands still.
   * @throws {JobAborted}
   * @throws {PoolBusy} too many jobs wait already, or no worker could begin: that says nothing about the job.
   * @throws {PoolClosed} the pool was disposed of before the reply came.
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

  /** How many threads there may be, how many work, and how many jobs wait for one. */
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

  /** There may be no thread left for it. */
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
      : alarm(PATIENCE_TO_BEGIN, () => abort(new PoolBusy('No worker could begin in time.')));
    const release = () => {
      stopClock();
      worker.removeAllListeners();
      this.#busy.delete(worker);
    };
    const abort = (fault: Error) => {
      release();
      // A dead or dying worker may still report an error, which nobody needs.
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
      if (this.#closed) return; // too late: it is being ended, and its exit is waited for
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

/** Calls `late` once so many milliseconds have passed in which this process ran; what is returned ends that. */
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
