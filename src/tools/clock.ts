import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises';
import { type Clock, partOfWorld } from './outside-world.ts';

export const CLOCK_OF_NODE: Clock = {
  now: () => Date.now(),
  date: () => new Date(),
  monotonic: () => performance.now(),
  setTimeout: (work, ms, ...args) => setTimeout(work, ms, ...args),
  setInterval: (work, ms) => setInterval(work, ms),
  setImmediate: (work) => setImmediate(work),
  clearTimeout: (timer) => clearTimeout(timer),
  clearInterval: (timer) => clearInterval(timer),
  sleep: (ms, signal) => pause(ms, undefined, signal && { signal }),
  nextTurn: () => immediately(),
  timeoutSignal: (ms) => AbortSignal.timeout(ms),
};

/** The clock of the calling node. */
export const clock: Clock = partOfWorld('clock', CLOCK_OF_NODE);
