import type { Plan, StepCrash } from './plan.ts';

const DOWN_MS = 300;

/** Returns a plan without faults: what is left are the clients and the nodes. */
export function withoutFaults({ stepCrash: _crash, ...plan }: Plan): Plan {
  return { ...plan, faults: [] };
}

/**
 * Yields a plan for each step of each host: its process crashes behind that step. Embedded: and one in which its power
 * fails.
 */
export function* everyStep(plan: Plan, hostSteps: readonly number[]): Generator<Plan> {
  for (const [host, steps] of hostSteps.entries())
    for (let step = 1; step <= steps; step++) {
      const stepCrash: StepCrash = { host, step, down: DOWN_MS };
      yield { ...plan, stepCrash };
      if (plan.composition === 'embedded') yield { ...plan, stepCrash: { ...stepCrash, isPowerCut: true } };
    }
}

/** Returns how many plans {@link everyStep} yields. */
export function countOfSteps({ composition }: Plan, hostSteps: readonly number[]): number {
  return hostSteps.reduce((sum, steps) => sum + steps, 0) * (composition === 'embedded' ? 2 : 1);
}
