import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Totals of one run. */
export type RecordedRun = {
  /** RFC 3339. */
  readonly at: string;
  readonly first: number;
  readonly histories: number;
  readonly bad: number;
  readonly cpuSeconds: number;
};

const HEAD = `# Runs of the simulation

Totals of runs with \`npm run simulate -- --record docs/simulation-runs.md\`: histories from the first seed on, those with
a violation, CPU seconds, and the commit. It has a \`+\` if files of the project were changed. The same seeds on another
commit are other histories.

| At | Commit | First seed | Histories | With a violation | CPU s |
| --- | --- | --- | --- | --- | --- |
`;
const SUM = /^\*\*.*\*\*$/m;
const ROW = /^\| \S+ \| \S+ \| \d+ \| (\d+) \| (\d+) \| (\d+) \|$/gm;

/** Adds a run to a record, a Markdown file, which ends with the sums. */
export function recordRun(file: string, { at, first, histories, bad, cpuSeconds }: RecordedRun): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : HEAD;
  const row = `| ${at} | ${commit()} | ${first} | ${histories} | ${bad} | ${Math.round(cpuSeconds)} |`;
  const rows = `${text.replace(SUM, '').trimEnd()}\n${row}\n`;
  const all = [...rows.matchAll(ROW)].map((cells) => cells.slice(1).map(Number));
  const [allHistories, allBad, allSeconds] = [0, 1, 2].map((column) =>
    sumOf(all.map((cells) => cells[column] ?? 0)),
  );
  writeFileSync(
    file,
    `${rows}\n**${allHistories} histories, ${allBad} with a violation, in ${allSeconds} CPU seconds.**\n`,
  );
}

function sumOf(numbers: readonly number[]): string {
  return numbers.reduce((sum, number) => sum + number, 0).toLocaleString('en');
}

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: path.join(import.meta.dirname, '..'), encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'src', 'projections', 'simulation') !== '';
  return `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? '+' : ''}`;
}
