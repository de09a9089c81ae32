import { FAULTS } from '../faults/faults.ts';
import type { Plan } from './plan.ts';

/**
 * Returns the plan in a saved text. Plans without a composition are of clusters.
 * @throws {TypeError} it is no plan of this release
 */
export function parsePlan(text: string): Plan {
  const plan = JSON.parse(text) as Partial<Plan>;
  const { composition = 'cluster', seed, stuckAfter, faults, deposits, stepCrash } = plan;
  const isPlan = typeof seed === 'number' && typeof stuckAfter === 'number' && faults && deposits;
  if (!isPlan) throw new TypeError('A plan has seed, stuckAfter, faults and deposits.');
  const unknown = faults.find(({ kind }) => !Object.hasOwn(FAULTS, kind));
  if (unknown) throw new TypeError(`There is no fault ${unknown.kind}.`);
  return { seed, composition, stuckAfter, faults, deposits, ...(stepCrash && { stepCrash }) };
}
