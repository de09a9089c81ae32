import { readdirSync, readFileSync } from 'node:fs';
import { NotMeasured } from './not-measured.ts';

/** Resources that a process of this machine uses, read from /proc. */
export class ProcessFacts {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Seconds of CPU time that all of its threads have used. */
  get cpuSeconds(): number {
    return this.#cpuSecondsIn('stat');
  }

  /** Seconds of CPU time that its first thread has used. */
  get mainThreadCpuSeconds(): number {
    return this.#cpuSecondsIn(`task/${this.#pid}/stat`);
  }

  #cpuSecondsIn(file: string): number {
    const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(this.#read(file)) ?? [];
    const TICKS = 100; // ticks per second on every Linux that Node runs on
    return (Number(user) + Number(system)) / TICKS;
  }

  /** Resident memory in MiB, now and at its peak. */
  get memory(): number {
    return this.#inStatus('VmRSS');
  }

  get peakMemory(): number {
    return this.#inStatus('VmHWM');
  }

  /** Memory in MiB, in which pages that processes share count in parts (PSS). */
  get proportionalMemory(): number {
    const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(this.#read('smaps_rollup')) ?? [];
    return Number(kilobytes) / 1024;
  }

  get openFiles(): number {
    return inProc(() => readdirSync(`/proc/${this.#pid}/fd`)).length;
  }

  #inStatus(name: string): number {
    const [, kilobytes] = new RegExp(`${name}:\\s+(\\d+) kB`).exec(this.#read('status')) ?? [];
    return Number(kilobytes) / 1024;
  }

  #read(file: string): string {
    return inProc(() => readFileSync(`/proc/${this.#pid}/${file}`, 'utf8'));
  }
}

function inProc<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new NotMeasured('What a process uses is read from /proc, which is not here.');
  }
}
