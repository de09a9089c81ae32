import { readFileSync } from 'node:fs';
import { NotMeasured } from './goal.ts';
import type { Measure } from './interleave.ts';

/**
 * Measures the same work by the clock and by the CPU time that it took in this process, in its threads and in the
 * programs that it ran to their end: the second is hardly moved by what else the machine does.
 */
export class CpuRates {
  readonly #amount: number;
  readonly #byCpu = new Map<string, number[]>();

  /** `amount`: of what each piece of work gets done. */
  constructor(amount: number) {
    this.#amount = amount;
  }

  /** Its value is the rate by the clock. */
  of(side: string, work: () => unknown): Measure {
    return async () => {
      const [started, cpu] = [performance.now(), cpuSeconds()];
      await work();
      const seconds = (performance.now() - started) / 1000;
      this.#byCpu.set(side, [...(this.#byCpu.get(side) ?? []), this.#amount / (cpuSeconds() - cpu)]);
      return this.#amount / seconds;
    };
  }

  /** The rates by CPU time, of the rounds that count. */
  byCpu(side: string, pairs: number): number[] {
    return (this.#byCpu.get(side) ?? []).slice(-pairs);
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + secondsOfEnded();
}

/** Of the programs that this process has run, and of those that they have run. */
function secondsOfEnded(): number {
  const [, user, system] = /\) (?:\S+ ){13}(\d+) (\d+)/.exec(ownStat()) ?? [];
  const TICKS = 100; // a second, on every Linux that Node runs on
  return (Number(user) + Number(system)) / TICKS;
}

function ownStat(): string {
  try {
    return readFileSync('/proc/self/stat', 'utf8');
  } catch {
    throw new NotMeasured('What programs used is read from /proc, which is not here.');
  }
}
