import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { running } from './host.ts';
import type { Task } from './task-queue.ts';
import { currentWorld, type World } from './world.ts';

type Callback = (...args: unknown[]) => void;

/** Timers fire up to this many milliseconds late. */
const LATENESS_MS = 0.2;
const IMMEDIATE_MS = 0.001;

/** The part of `NodeJS.Timeout` and `NodeJS.Immediate` that code uses. */
class SimulatedTimer {
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

  hasRef(): boolean {
    return true;
  }

  close(): void {
    this.task.isCancelled = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Replaces timers, global and of `node:timers`: they follow the virtual time of the current world, if there is one. */
export function patchTimers(): void {
  const real = { ...timers, sleep: timersPromises.setTimeout, yield: timersPromises.setImmediate };
  const setTimeout = (work: Callback, ms = 0, ...args: unknown[]) => {
    const world = currentWorld();
    return world ? after(world, ms, work, args) : real.setTimeout(work, ms, ...args);
  };
  const setInterval = (work: Callback, ms = 1, ...args: unknown[]) => {
    const world = currentWorld();
    return world ? every(world, ms, work, args) : real.setInterval(work, ms, ...args);
  };
  const setImmediate = (work: Callback, ...args: unknown[]) => {
    const world = currentWorld();
    if (!world) return real.setImmediate(work, ...args);
    return new SimulatedTimer(world.schedule(IMMEDIATE_MS, running.getStore(), () => work(...args)));
  };
  const clearWith = (clear: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof SimulatedTimer) timer.close();
    else clear(timer as never);
  };
  const patched = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: clearWith(real.clearTimeout),
    clearInterval: clearWith(real.clearInterval),
    clearImmediate: clearWith(real.clearImmediate),
  };
  Object.assign(globalThis, patched);
  Object.assign(timers, patched);
  Object.assign(timersPromises, {
    setTimeout: (ms: number, value?: unknown, options: SleepOptions = {}) =>
      currentWorld() ? sleep(ms, value, options) : real.sleep(ms, value, options),
    setImmediate: (value?: unknown) =>
      currentWorld() ? new Promise((resolve) => void setImmediate(() => resolve(value))) : real.yield(value),
  });
}

function after(world: World, ms: number, work: Callback, args: readonly unknown[]): SimulatedTimer {
  return new SimulatedTimer(world.schedule(delayOf(world, ms), running.getStore(), () => work(...args)));
}

function every(world: World, ms: number, work: Callback, args: readonly unknown[]): SimulatedTimer {
  const incarnation = running.getStore();
  const next = () =>
    world.schedule(delayOf(world, ms), incarnation, () => {
      timer.task = next();
      work(...args);
    });
  const timer = new SimulatedTimer(next());
  return timer;
}

function delayOf({ codeRandom }: World, ms: number): number {
  return Math.max(1, ms || 0) + codeRandom.next() * LATENESS_MS;
}

type SleepOptions = { readonly signal?: AbortSignal };

function sleep(ms: number, value: unknown, { signal }: SleepOptions): Promise<unknown> {
  if (signal?.aborted) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const cut = (): void => {
      clearTimeout(timer);
      reject(abortError(signal as AbortSignal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cut);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', cut, { once: true });
  });
}

function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}
