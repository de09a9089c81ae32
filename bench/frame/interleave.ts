import type { Bench } from './goal.ts';

/** Does its work once and resolves to the measured value. */
export type Measure = () => Promise<number>;

/** Warm-up rounds: V8 still optimizes work of a second for three rounds. */
const WARM_UPS = 3;

/**
 * Measures all sides in each round, one after the other. Each round begins with another side, so that other load on
 * the machine affects all sides alike. The warm-up rounds do not count.
 */
export async function interleave<Name extends string>(
  { pairs, tell }: Pick<Bench, 'pairs' | 'tell'>,
  what: string,
  sides: Readonly<Record<Name, Measure>>,
): Promise<Record<Name, number[]>> {
  const entries = Object.entries<Measure>(sides);
  const found = new Map(entries.map(([name]) => [name, [] as number[]]));
  for (let round = 1 - WARM_UPS; round <= pairs; round += 1) {
    tell(round > 0 ? `${what}: pair ${round} of ${pairs}` : `${what}: warming up`);
    const first = (round + WARM_UPS) % entries.length;
    for (const [name, measure] of [...entries.slice(first), ...entries.slice(0, first)]) {
      const value = await measure();
      if (round > 0) found.get(name)?.push(value);
    }
  }
  return Object.fromEntries(found) as Record<Name, number[]>; // its keys are those of `sides`
}

/** Resolves to the seconds that the work takes. */
export async function secondsOf(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
