import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import type { DrillRun } from './run-drill.ts';

/** Numbers whose sums over all drills the report shows. */
const SUMS = [
  'kills',
  'acknowledged',
  'lost',
  'doubled',
  'dangling',
  'stuck',
  'notifications lost',
  'orphans swept',
] as const;

export type Report = {
  readonly runs: readonly DrillRun[];
  readonly isShort: boolean;
  /** RFC 3339. */
  readonly begunAt: string;
};

/** Returns the findings of the drills as a page of the documentation. */
export function markdownReport({ runs, isShort, begunAt }: Report): string {
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const form = isShort ? 'the short form' : 'the full form';
  const command = `npm run drills --${isShort ? ' --short' : ''} --report docs/drills.md`;
  return `# Drills

Drills run the service, inject faults and check that its guarantees still hold. \`npm run drills\` runs all of
them one after the other, \`npm run drills -- --short\` a form of a few minutes that is part of continuous integration,
\`npm run drills -- --only NAME\` single ones; \`--list\` names them. Each is a program of its own as well:
\`node drills/NAME.ts --help\`.

This page was written by \`${command}\`: ${form}, begun ${begunAt}, ${Math.round(seconds)} s in all.
${machine()}

${summary(runs)}

## What was tried, what held

| Drill | Tried | Held |
| ----- | ----- | ---- |
${runs.map((run) => `| \`${run.name}\` | ${cell(run.tried)} | ${cell(heldBy(run))} |`).join('\n')}

## Numbers

${SUMS.map((name) => `- ${name}: ${sumOf(runs, name)}`).join('\n')}

| Drill | Seconds | Numbers |
| ----- | ------- | ------- |
${runs.map((run) => `| \`${run.name}\` | ${Math.round(run.seconds)} | ${numbersOf(run)} |`).join('\n')}
`;
}

/** The closing line. */
export function summary(runs: readonly DrillRun[]): string {
  const broken = runs.filter(isBroken).length;
  const skipped = runs.filter((run) => run.skipped !== undefined).length;
  const held = runs.length - broken - skipped;
  return `${runs.length} drills: ${held} held, ${broken} broken, ${skipped} skipped.`;
}

export function isBroken({ broken }: DrillRun): boolean {
  return broken.length > 0;
}

/** Returns the lines about one drill. */
export function describeRun(run: DrillRun): string {
  if (run.skipped !== undefined) return `${run.name}: skipped: ${run.skipped}`;
  const outcome = isBroken(run) ? run.broken.map((what) => `  BROKEN: ${what}`) : [`  held: ${run.held}`];
  const lines = [`${run.name} (${Math.round(run.seconds)} s)`, `  tried: ${run.tried}`, ...outcome];
  return [...lines, `  numbers: ${numbersOf(run)}`].join('\n');
}

function heldBy({ skipped, broken, held }: DrillRun): string {
  if (skipped !== undefined) return `skipped: ${skipped}`;
  return broken.length === 0 ? held : broken.map((what) => `**BROKEN**: ${what}`).join('; ');
}

function numbersOf({ numbers }: DrillRun): string {
  return Object.entries(numbers)
    .map(([name, number]) => `${name} ${number.toLocaleString('en')}`)
    .join(', ');
}

function sumOf(runs: readonly DrillRun[], name: string): string {
  return runs.reduce((sum, { numbers }) => sum + (numbers[name] ?? 0), 0).toLocaleString('en');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function machine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `On ${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory}, ${type()} ${release()}, Node ${process.version}, ${disk()}.`;
}

/** Of the folder for temporary files, where the data folders of the drills are. */
function disk(): string {
  try {
    const args = ['--output=fstype', process.env['TMPDIR'] ?? '/tmp'];
    return `data on ${execFileSync('df', args, { encoding: 'utf8' }).trim().split('\n').at(-1)}`;
  } catch {
    return 'data on an unknown file system';
  }
}
