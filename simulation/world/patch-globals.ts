import './real-immediate.ts'; // before anything is replaced
import crypto from 'node:crypto';
import filesystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { patchTimers } from './patch-timers.ts';
import { isSimulated, openSimulatedFile, readSimulatedFile } from './simulated-files.ts';
import { currentWorld } from './world.ts';

/**
 * Replaces time, timers, randomness and files of this process by those of the current world. Between histories they
 * work as always. To be called once, before the code under test is loaded.
 */
export function patchGlobals(): void {
  patchTimers();
  patchClock();
  patchRandomness();
  patchSignals();
  patchFiles();
  syncBuiltinESMExports();
}

function patchClock(): void {
  const RealDate = Date;
  const wallClock = (): number => currentWorld()?.wallClock() ?? RealDate.now();
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
    randomBytes: (size: number) => (currentWorld() ? seededBytes(size) : randomBytes(size)),
    randomUUID: () => (currentWorld() ? seededUuid() : randomUUID()),
  });
}

function seededBytes(size: number): Buffer {
  const random = currentWorld()?.codeRandom;
  return Buffer.from(Array.from({ length: size }, () => random?.int(256) ?? 0));
}

function seededUuid(): string {
  const bytes = seededBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * Composite signals of Node that have listeners are retained until they abort, those of crashed processes for ever.
 * These are not.
 */
function patchSignals(): void {
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    setTimeout(() => controller.abort(reason), milliseconds).unref();
    return controller.signal;
  };
  AbortSignal.any = (signals) => {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  };
}

function patchFiles(): void {
  const { mkdir, open, readFile, rm } = filesystem;
  const isOurs = (file: unknown): boolean => currentWorld() !== undefined && isSimulated(file);
  Object.assign(filesystem, {
    mkdir: (...args: Parameters<typeof mkdir>) =>
      isOurs(args[0]) ? Promise.resolve(undefined) : mkdir(...args),
    open: (...args: Parameters<typeof open>) => (isOurs(args[0]) ? openSimulatedFile() : open(...args)),
    rm: (...args: Parameters<typeof rm>) => (isOurs(args[0]) ? Promise.resolve() : rm(...args)),
    readFile: (...args: Parameters<typeof readFile>) =>
      isOurs(args[0]) ? readSimulatedFile(args[0] as string) : readFile(...args),
  });
}
