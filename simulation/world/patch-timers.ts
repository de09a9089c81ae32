import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { running } from './host.ts';
import { after, every, SimulatedTimer, sleep, soon } from './simulated-timers.ts';
import { currentWorld } from './world.ts';

type Callback = (...args: unknown[]) => void;
type SleepOptions = { readonly signal?: AbortSignal };

/** Replaces timers, global and of `node:timers`: they follow the virtual time of the current world, if there is one. */
export function patchTimers(): void {
  const real = { ...timers, sleep: timersPromises.setTimeout, yield: timersPromises.setImmediate };
  const setTimeout = (work: Callback, ms = 0, ...args: unknown[]) => {
    return currentWorld()
      ? after(running.getStore(), ms, () => work(...args))
      : real.setTimeout(work, ms, ...args);
  };
  const setInterval = (work: Callback, ms = 1, ...args: unknown[]) => {
    return currentWorld()
      ? every(running.getStore(), ms, () => work(...args))
      : real.setInterval(work, ms, ...args);
  };
  const setImmediate = (work: Callback, ...args: unknown[]) => {
    return currentWorld() ? soon(running.getStore(), () => work(...args)) : real.setImmediate(work, ...args);
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
      currentWorld()
        ? sleep(running.getStore(), ms, options.signal).then(() => value)
        : real.sleep(ms, value, options),
    setImmediate: (value?: unknown) =>
      currentWorld() ? new Promise((resolve) => void setImmediate(() => resolve(value))) : real.yield(value),
  });
}
