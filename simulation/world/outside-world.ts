import type { Clock, OutsideWorld } from '../../src/tools/outside-world.ts';
import { diskFiles } from '../disk/disk-files.ts';
import { startWorker } from '../disk/simulated-worker.ts';
import { simulatedRequests } from '../network/http.ts';
import { type Host, Incarnation } from './host.ts';
import { SIMULATED_FILES } from './simulated-files.ts';
import { after, every, sleep, soon, timeoutSignal } from './simulated-timers.ts';
import { world } from './world.ts';

/** Returns a new process on a host, with an outside world of its own. */
export function newProcess(host: Host): Incarnation {
  const process = new Incarnation(host);
  process.outsideWorld = outsideWorldOf(process);
  return process;
}

/**
 * Returns virtual time, seeded randomness, simulated servers, and the files of the disk; the operator of a cluster, who
 * has no disk, hardly has any.
 */
function outsideWorldOf(process: Incarnation): OutsideWorld {
  const { codeRandom } = world();
  return {
    clock: clockOf(process),
    random: {
      fraction: () => codeRandom.next(),
      uuid: () => codeRandom.uuid(),
      bytes: (count) => codeRandom.bytes(count),
    },
    files: process.host.storage ? diskFiles(process, process.host.storage) : SIMULATED_FILES,
    workers: { start: (program, options) => startWorker(process, program, options) },
    outgoing: simulatedRequests(process),
  };
}

function clockOf(process: Incarnation): Clock {
  const now = (): number => world().wallClock(process);
  return {
    now,
    date: () => new Date(now()),
    monotonic: () => world().now,
    setTimeout: (work, ms = 0, ...args) =>
      after(process, ms, () => work(...args)) as unknown as NodeJS.Timeout,
    setInterval: (work, ms) => every(process, ms, work) as unknown as NodeJS.Timeout,
    setImmediate: (work) => soon(process, work) as unknown as NodeJS.Immediate,
    clearTimeout: (timer) => timer?.close(),
    clearInterval: (timer) => timer?.close(),
    sleep: (ms, signal) => sleep(process, ms, signal),
    nextTurn: () => new Promise((resolve) => void soon(process, resolve)),
    timeoutSignal: (ms) => timeoutSignal(process, ms),
  };
}
