import { readFileSync } from 'node:fs';
import type { Bench, Bound, Comparison } from './goal.ts';
import { interleave, type Measure } from './interleave.ts';
import { NotMeasured } from './not-measured.ts';

export type Work = { readonly name: string; readonly work: () => unknown };

export type SameWork = {
  readonly id: string;
  /** Names the reference. */
  readonly what: string;
  /** Megabytes that each side processes. */
  readonly megabytes: number;
  readonly ours: Work;
  readonly reference: Work;
  readonly wanted: Bound;
};

/**
 * Compares the same work by wall clock and, without a goal, by CPU time: of this process, its threads and the programs
 * that it ran to their end. Other load on the machine hardly changes the CPU time.
 */
export async function comparedByClockAndCpu(
  bench: Bench,
  { id, what, megabytes, ours, reference, wanted }: SameWork,
): Promise<[Comparison, Comparison]> {
  const byCpu = { ours: [] as number[], reference: [] as number[] };
  const rate =
    ({ work }: Work, cpuRates: number[]): Measure =>
    async () => {
      const [started, cpu] = [performance.now(), cpuSeconds()];
      await work();
      const seconds = (performance.now() - started) / 1000;
      cpuRates.push(megabytes / (cpuSeconds() - cpu));
      return megabytes / seconds;
    };
  const byClock = await interleave(bench, `${id}, beside ${what}`, {
    ours: rate(ours, byCpu.ours),
    reference: rate(reference, byCpu.reference),
  });
  const sides = (rates: typeof byClock) => ({
    ours: { name: ours.name, values: rates.ours.slice(-bench.pairs) }, // without warm-up rounds
    reference: { name: reference.name, values: rates.reference.slice(-bench.pairs) },
  });
  return [
    { what: `beside ${what}`, unit: 'MB/s', ...sides(byClock), wanted },
    { what: `by CPU time, beside ${what}`, unit: 'MB/CPU s', ...sides(byCpu), wanted: undefined },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + secondsOfEnded();
}

/** Returns the CPU seconds of all programs that this process, or one of those programs, has run to their end. */
function secondsOfEnded(): number {
  const [, user, system] = /\) (?:\S+ ){13}(\d+) (\d+)/.exec(ownStat()) ?? [];
  const TICKS = 100; // ticks per second on every Linux that Node runs on
  return (Number(user) + Number(system)) / TICKS;
}

function ownStat(): string {
  try {
    return readFileSync('/proc/self/stat', 'utf8');
  } catch {
    throw new NotMeasured('What programs used is read from /proc, which is not here.');
  }
}
