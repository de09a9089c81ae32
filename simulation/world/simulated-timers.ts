import type { Incarnation } from './host.ts';
import type { Task } from './task-queue.ts';
import { world } from './world.ts';

/** Timers fire up to this many milliseconds late. */
const LATENESS_MS = 0.2;
const IMMEDIATE_MS = 0.001;

/** The part of `NodeJS.Timeout` and `NodeJS.Immediate` that code uses. */
export class SimulatedTimer {
  task: Task;

  constructor(task: Task) {
    this.task = task;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  close(): void {
    this.task.isCancelled = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Calls `work` when everything that is due now was done. */
export function soon(process: Incarnation | undefined, work: () => void): SimulatedTimer {
  return new SimulatedTimer(world().schedule(IMMEDIATE_MS, process, work));
}

/** Calls `work` once, as the process. */
export function after(process: Incarnation | undefined, ms: number, work: () => void): SimulatedTimer {
  return new SimulatedTimer(world().schedule(delayOf(ms), process, work));
}

/** Calls `work` again and again, as the process. */
export function every(process: Incarnation | undefined, ms: number, work: () => void): SimulatedTimer {
  const next = () =>
    world().schedule(delayOf(ms), process, () => {
      timer.task = next();
      work();
    });
  const timer = new SimulatedTimer(next());
  return timer;
}

function delayOf(ms: number): number {
  return Math.max(1, ms || 0) + world().codeRandom.next() * LATENESS_MS;
}

/** @throws {Error} an `AbortError`, when the signal aborts before. */
export function sleep(process: Incarnation | undefined, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const cut = (): void => {
      timer.close();
      reject(abortError(signal as AbortSignal));
    };
    const timer = after(process, ms, () => {
      signal?.removeEventListener('abort', cut);
      resolve();
    });
    signal?.addEventListener('abort', cut, { once: true });
  });
}

export function timeoutSignal(process: Incarnation | undefined, ms: number): AbortSignal {
  const controller = new AbortController();
  after(process, ms, () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
  );
  return controller.signal;
}

function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}
