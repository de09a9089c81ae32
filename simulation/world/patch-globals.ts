import './real-immediate.ts'; // before anything is replaced
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { running } from './host.ts';
import { patchTimers } from './patch-timers.ts';
import { timeoutSignal } from './simulated-timers.ts';
import { currentWorld } from './world.ts';

/**
 * Replaces time, timers and randomness of this process by those of the current world, for libraries: the code of the
 * service has its {@link outsideWorldOf outside world}. Between histories they work as always. To be called once, before
 * the code under test is loaded.
 */
export function patchGlobals(): void {
  patchTimers();
  patchClock();
  patchRandomness();
  patchSignals();
  syncBuiltinESMExports();
}

function patchClock(): void {
  const RealDate = Date;
  const wallClock = (): number => currentWorld()?.wallClock(running.getStore()) ?? RealDate.now();
  class SimulatedDate extends RealDate {
    constructor(...args: ConstructorParameters<typeof Date> | []) {
      if (args.length === 0) super(wallClock());
      else super(...args);
    }

    static override now(): number {
      return wallClock();
    }
  }
  globalThis.Date = SimulatedDate as unknown as DateConstructor;
  const realNow = performance.now.bind(performance);
  Object.defineProperty(performance, 'now', {
    configurable: true,
    value: () => currentWorld()?.now ?? realNow(),
  });
}

function patchRandomness(): void {
  const { random } = Math;
  const { randomBytes, randomUUID } = crypto;
  Math.random = () => currentWorld()?.codeRandom.next() ?? random();
  Object.assign(crypto, {
    randomBytes: (size: number) => currentWorld()?.codeRandom.bytes(size) ?? randomBytes(size),
    randomUUID: () => currentWorld()?.codeRandom.uuid() ?? randomUUID(),
  });
}

/**
 * Composite signals of Node that have listeners are retained until they abort, those of crashed processes for ever.
 * These are not.
 */
function patchSignals(): void {
  AbortSignal.timeout = (milliseconds) => timeoutSignal(running.getStore(), milliseconds);
  const composites = new WeakMap<AbortSignal, AbortController[]>();
  const compositesOf = (signal: AbortSignal): AbortController[] =>
    composites.getOrInsertComputed(signal, () => {
      const controllers: AbortController[] = []; // one listener for all: Node looks through those there are
      const abort = (): void => {
        for (const controller of controllers) controller.abort(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      return controllers;
    });
  AbortSignal.any = (signals) => {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else compositesOf(signal).push(controller);
    }
    return controller.signal;
  };
}
