import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises';
import { type Clock, ownOr } from './outside-world.ts';

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

const own = (): Clock => ownOr('clock', CLOCK_OF_NODE);

/** The clock of the calling node. */
export const clock: Clock = {
  now: () => own().now(),
  date: () => own().date(),
  monotonic: () => own().monotonic(),
  setTimeout: (work, ms, ...args) => own().setTimeout(work, ms, ...args),
  setInterval: (work, ms) => own().setInterval(work, ms),
  setImmediate: (work) => own().setImmediate(work),
  clearTimeout: (timer) => own().clearTimeout(timer),
  clearInterval: (timer) => own().clearInterval(timer),
  sleep: (ms, signal) => own().sleep(ms, signal),
  nextTurn: () => own().nextTurn(),
  timeoutSignal: (ms) => own().timeoutSignal(ms),
};
