import { writeFileSync } from 'node:fs';
import { UsageError } from '../../src/operations/command/command.ts';
import { say } from '../../src/operations/command/output.ts';
import type { Goal } from './goal.ts';
import { type Machine, machineText } from './machine.ts';
import { type RunOptions, runGoals } from './run-goals.ts';

/** Returns the goals of these names, in the order of `every`. @throws {UsageError} */
export function goalsNamed(names: readonly string[], every: readonly Goal[]): readonly Goal[] {
  if (names.length === 0) throw new UsageError('Name goals, or all.');
  if (names.includes('all')) return every;
  const wanted = names.map((name) => name.toUpperCase());
  const unknown = wanted.filter((name) => !every.some(({ id }) => id === name));
  if (unknown.length === 0) return every.filter(({ id }) => wanted.includes(id));
  const known = every.map(({ id }) => id).join(', ');
  throw new UsageError(`There is no goal ${unknown.join()}: ${known}, or all.`);
}

/** Measures the goals, prints the results, and writes them to a file if one is named. Resolves to the exit code. */
export async function measureGoals(
  goals: readonly Goal[],
  machine: Machine,
  options: RunOptions,
  json: string | undefined,
): Promise<number> {
  say(machineText(machine));
  const found = await runGoals(goals, options);
  const { pairs } = options;
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, pairs, found }, null, 2)}\n`);
  return found.every(({ outcome }) => outcome !== 'missed' && outcome !== 'failed') ? 0 : 1;
}
