import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { say } from '../../src/operations/command/output.ts';
import { Inputs } from '../inputs/inputs.ts';
import { type Comparison, type Goal, judgedValues } from './goal.ts';
import { load } from './machine.ts';
import { NotMeasured } from './not-measured.ts';
import { ProgressLine } from './progress-line.ts';
import { addedSyncTime } from './slow-syncs.ts';
import { holds, spreadOf } from './statistics.ts';
import { rounded, tableOf } from './table.ts';

export type RunOptions = {
  readonly pairs: number;
  readonly folder: string;
  /** Folder of files that are reused from run to run. */
  readonly cache: string;
  readonly offline: boolean;
};

/** The result of one goal. */
export type Found = {
  readonly id: string;
  readonly what: string;
  readonly outcome: 'held' | 'missed' | 'not measured' | 'failed';
  readonly comparisons: readonly (Comparison & { readonly judged: readonly number[] })[];
  /** Why the goal was not measured, or failed. */
  readonly reason?: string;
  readonly load: { readonly before: number; readonly after: number };
  readonly seconds: number;
};

/** Measures one goal after the other and prints each result as soon as it is known. */
export async function runGoals(goals: readonly Goal[], options: RunOptions): Promise<Found[]> {
  const line = new ProgressLine();
  const tell = (text: string) => line.tell(text);
  const inputs = new Inputs({ ...options, tell });
  const found: Found[] = [];
  for (const goal of goals) {
    tell(`${goal.id} ${goal.what}`);
    const one = await runGoal(goal, options, inputs, tell);
    line.clear();
    for (const text of linesOf(one)) say(text);
    found.push(one);
  }
  say(summary(found));
  return found;
}

async function runGoal(
  goal: Goal,
  { pairs, folder: parent }: RunOptions,
  inputs: Inputs,
  tell: (progress: string) => void,
): Promise<Found> {
  const { id, what } = goal;
  const folder = path.join(parent, id);
  mkdirSync(folder);
  const started = performance.now();
  const before = load();
  const about = () => {
    return { id, what, load: { before, after: load() }, seconds: (performance.now() - started) / 1000 };
  };
  try {
    const comparisons = await goal.measure({ pairs, folder, inputs, tell, addedSyncTime: addedSyncTime() });
    const outcome = comparisons.every(isHeld) ? 'held' : 'missed';
    const judged = comparisons.map((each) => ({ ...each, judged: judgedValues(each) }));
    return { ...about(), outcome, comparisons: judged };
  } catch (error) {
    const { message: reason, stack } = error as Error;
    if (error instanceof NotMeasured) return { ...about(), outcome: 'not measured', comparisons: [], reason };
    return { ...about(), outcome: 'failed', comparisons: [], reason: stack ?? reason };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isHeld(comparison: Comparison): boolean {
  return comparison.wanted === undefined || holds(comparison.wanted, spreadOf(judgedValues(comparison)));
}

function linesOf({
  id,
  what,
  comparisons,
  reason,
  outcome,
  load: { before, after },
  seconds,
}: Found): string[] {
  const about = `load ${rounded(before)} before, ${rounded(after)} after, ${Math.round(seconds)} s`;
  const why = reason === undefined ? [] : [`  ${outcome}: ${reason}`];
  return ['', `${id} ${what}: ${about}`, ...why, ...comparisons.flatMap(tableOf)];
}

function summary(found: readonly Found[]): string {
  const named = (outcome: Found['outcome']): string => {
    const ids = found.filter((one) => one.outcome === outcome).map(({ id }) => id);
    return ids.length === 0 ? '' : `${outcome}: ${ids.join(' ')}`;
  };
  const all = (['held', 'missed', 'not measured', 'failed'] as const).map(named);
  return `\n${all.filter((text) => text !== '').join('; ')}`;
}
