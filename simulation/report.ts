import type { HistoryResult } from './history/run-history.ts';
import type { Plan } from './plan/plan.ts';
import { ENOUGH_HISTORIES, type Tally } from './tally.ts';
import type { Note } from './world/world.ts';

/** Notes that a story leaves out; `--trace` shows them, too. */
const DETAILS: ReadonlySet<Note['kind']> = new Set(['call', 'log']);
const LONGEST_LINE = 240;

/** Returns what happened in a history, a line for each note. */
export function storyOf({ notes = [] }: HistoryResult, { isComplete = false } = {}): string {
  return notes
    .filter(({ kind }) => isComplete || !DETAILS.has(kind))
    .map(({ at, kind, text }) => `${at.toFixed(2).padStart(10)} ${kind.padEnd(9)} ${oneLine(text)}`)
    .join('\n');
}

/** Returns a violation with everything that is needed to understand and to repeat it. */
export function violationReport(plan: Plan, result: HistoryResult, { isComplete = false } = {}): string {
  const sections = [
    ['Violations', result.violations.map(({ kind, text }) => `${kind}: ${text}`).join('\n')],
    ['Causes that the model knows', result.causes.join('\n')],
    ['Story', storyOf(result, { isComplete })],
    ['Plan', JSON.stringify(plan)],
  ];
  return sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title}\n${text}`)
    .join('\n\n');
}

/** Returns the counts of a run and what never happened in it. */
export function summary(tally: Tally, seconds: number): string {
  const { histories, steps, events, simulatedMs, cpuMs, bad, missing, violations, counts } = tally;
  const rate = ((histories * 1000) / Math.max(cpuMs, 1)).toFixed(1);
  const lines = [
    `${histories} histories in ${seconds.toFixed(0)} s (${rate} per CPU second): ${steps} steps, ${events} events, ${(simulatedMs / 3_600_000).toFixed(1)} simulated hours`,
    `Faults: ${countsText(counts.faults)}`,
    `Crashes after: ${countsText(counts.crashPoints)}`,
    `Events: ${countsText(counts.eventTypes)}`,
    `Appends: ${countsText(counts.appends)}`,
    ...[...violations].map(
      ([kind, seeds]) => `${kind}: ${seeds.length} histories, seeds ${seeds.slice(0, 10).join(' ')}`,
    ),
  ];
  if (tally.isRandom && histories < ENOUGH_HISTORIES)
    lines.push(
      `Too few histories to expect that everything occurs: that is checked from ${ENOUGH_HISTORIES} on.`,
    );
  if (missing.length > 0) lines.push(`Never occurred: ${missing.join(', ')}`);
  return [...lines, `${histories - bad.length} passed, ${bad.length + missing.length} failed`].join('\n');
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
  return entries.map(([name, count]) => `${name} ${count}`).join(', ');
}

function oneLine(text: string): string {
  return text.replaceAll('\n', ' ').slice(0, LONGEST_LINE);
}
