import { EventEmitter } from 'node:events';
import path from 'node:path';
import type { Transferable, Worker, WorkerOptions } from 'node:worker_threads';
import { runLogWriter } from '../../src/event-log/sqlite/log-writer.ts';
import { runStoreChanges } from '../../src/object-store/filesystem/store-changes.ts';
import { runHashingSessions } from '../../src/object-store/hashing/hashing-sessions.ts';
import type { ThreadPort } from '../../src/tools/concurrency/thread-port.ts';
import { runViewJobs } from '../../src/views/store/view-jobs.ts';
import type { Incarnation } from '../world/host.ts';
import { world } from '../world/world.ts';

type Program = (port: ThreadPort<never, unknown>, data: never) => void;

/** The programs of threads, by the names of their files. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'log-writer-worker.ts': runLogWriter,
  'store-writer-worker.ts': runStoreChanges,
  'hashing-worker.ts': runHashingSessions,
  'view-writer-worker.ts': runViewJobs,
};

/** Milliseconds until a message arrives, and for which a message keeps a thread busy, as a sync does. */
const [MESSAGE_MS, WORK_MS] = [
  [0.02, 0.3],
  [0.05, 4],
] as const;

/** Starts a thread of a simulated process. */
export function startWorker(process: Incarnation, program: URL, options: WorkerOptions = {}): Worker {
  const start = PROGRAMS[path.basename(program.pathname)];
  if (!start) throw new Error(`The simulation has no worker ${program.href}.`);
  return new SimulatedWorker(process, start, options.workerData) as unknown as Worker;
}

/** A thread that runs in the process of the simulation: its messages take time, and it does one thing at a time. */
class SimulatedWorker extends EventEmitter {
  readonly #process: Incarnation;
  readonly #inbox: unknown[] = [];
  #receive: ((message: never) => void) | undefined;
  #isBusy = true;
  #isEnded = false;
  /** When the last message arrives at either end: they stay in order. */
  readonly #lastArrivals = { inwards: 0, outwards: 0 };

  constructor(process: Incarnation, start: Program, data: unknown) {
    super();
    this.#process = process;
    this.#later(...MESSAGE_MS, () => this.#start(start, data));
  }

  postMessage(message: unknown, transfer: readonly Transferable[] = []): void {
    const copy: unknown = structuredClone(message, { transfer: [...transfer] as never });
    this.#carry('inwards', () => {
      this.#inbox.push(copy);
      this.#work();
    });
  }

  ref(): void {
    // A simulated process ends only when it is killed or stopped.
  }

  unref(): void {
    // As above.
  }

  terminate(): Promise<number> {
    this.#end(1);
    return Promise.resolve(1);
  }

  #start(start: Program, data: unknown): void {
    const port: ThreadPort<never, unknown> = {
      onMessage: (receive) => {
        this.#receive = receive;
      },
      arrived: () => this.#inbox.splice(0) as never[],
      send: (message, transfer = []) => this.#send(structuredClone(message, { transfer: transfer as never })),
    };
    try {
      start(port, data as never);
      this.#rest();
    } catch (error) {
      this.emit('error', error);
      this.#end(1);
    }
  }

  #send(message: unknown): void {
    this.#carry('outwards', () => {
      if (!this.#isEnded) this.emit('message', message);
    });
  }

  #work(): void {
    if (this.#isBusy || this.#isEnded || this.#inbox.length === 0) return;
    this.#isBusy = true;
    this.#receive?.(this.#inbox.shift() as never);
    this.#rest();
  }

  #rest(): void {
    this.#later(...WORK_MS, () => {
      this.#isBusy = false;
      this.#work();
    });
  }

  #end(code: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.emit('exit', code);
  }

  #carry(direction: 'inwards' | 'outwards', arrive: () => void): void {
    const { now, networkRandom } = world();
    const slowest = direction === 'outwards' ? WORK_MS[1] : MESSAGE_MS[1];
    const at = Math.max(this.#lastArrivals[direction], now + networkRandom.between(MESSAGE_MS[0], slowest));
    this.#lastArrivals[direction] = at;
    world().schedule(at - now, this.#process, arrive);
  }

  #later(least: number, most: number, work: () => void): void {
    world().schedule(world().networkRandom.between(least, most), this.#process, work);
  }
}
