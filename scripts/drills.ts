import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type PlannedDrill, PROGRAMME } from '../drills/frame/programme.ts';
import { describeRun, isBroken, markdownReport, summary } from '../drills/frame/report.ts';
import { type DrillRun, runPlanned } from '../drills/frame/run-drill.ts';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { clock } from '../src/tools/clock.ts';

const HELP = `Injects faults into real processes of the service, and checks that its guarantees hold.

Usage: npm run drills [-- --short] [--only NAME]… [--list] [--json] [--report FILE] [--keep DIR]

--short   the short form of each drill; all together take some minutes
--only    only this drill; may be repeated
--list    print the names of all drills
--json    print one JSON object per drill, then one for all
--report  write the results as Markdown
--keep    retain the output of drills and services in this folder

Exit codes: 0 all held, 1 something broke, 2 wrong usage.
`;

await runCommand(
  HELP,
  async (args) => {
    const { values, positionals } = readArguments(args, {
      short: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      report: { type: 'string' },
      keep: { type: 'string' },
    });
    const drills = chooseDrills([...(values.only ?? []), ...positionals], values.short);
    if (values.list) {
      for (const { name, what } of drills)
        say(values.json ? JSON.stringify({ name, what }) : `${name}: ${what}`);
      return 0;
    }
    const begunAt = clock.date().toISOString();
    const runs = await runAll(drills, {
      ...values,
      onRun: (run) => say(values.json ? JSON.stringify(run) : describeRun(run)),
    });
    if (values.report !== undefined)
      await writeFile(values.report, markdownReport({ runs, isShort: values.short, begunAt }));
    const broken = runs.filter(isBroken).map(({ name }) => name);
    say(values.json ? JSON.stringify({ drills: runs.length, broken }) : `\n${summary(runs)}`);
    if (runs.length < drills.length) return 1; // interrupted
    return broken.length > 0 ? 1 : 0;
  },
  { mayBeBare: true },
);

type Chosen = {
  readonly short: boolean;
  readonly keep?: string | undefined;
  readonly onRun: (run: DrillRun) => void;
};

async function runAll(drills: readonly PlannedDrill[], { short, keep, onRun }: Chosen): Promise<DrillRun[]> {
  const outputDir = path.resolve(keep ?? (await mkdtemp(path.join(tmpdir(), 'drills-'))));
  const signal = stopSignal('The drills were stopped.');
  const runs: DrillRun[] = [];
  try {
    for (const [done, drill] of drills.entries()) {
      if (signal.aborted) break;
      const show = (text: string): void => showOnTerminal(done, drills.length, `${drill.name}: ${text}`);
      if (process.stderr.isTTY) show(drill.what);
      else process.stderr.write(`[${done + 1}/${drills.length}] ${drill.name}: ${drill.what}\n`);
      const run = await runPlanned(drill, { isShort: short, outputDir, signal, onProgress: show });
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
      if (signal.aborted) break;
      runs.push(run);
      onRun(run);
    }
    return runs;
  } finally {
    if (keep === undefined) await rm(outputDir, { recursive: true, force: true });
  }
}

const CLEAR_LINE = '\r\x1b[K';
const BAR = 20;

/** Shows one line that changes: the number of drills done, and the last message of the running one. */
function showOnTerminal(done: number, total: number, text: string): void {
  const { stderr } = process;
  if (!stderr.isTTY) return;
  const filled = Math.round((done / total) * BAR);
  const line = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${done} of ${total}, ${text}`;
  stderr.write(CLEAR_LINE + line.slice(0, (stderr.columns || 80) - 1));
}

/** @throws {UsageError} */
function chooseDrills(names: readonly string[], isShort: boolean): readonly PlannedDrill[] {
  const known = PROGRAMME.filter(({ shortLimit }) => !isShort || shortLimit !== undefined);
  const unknown = names.find((name) => !known.some((drill) => drill.name === name));
  if (unknown !== undefined)
    throw new UsageError(`Unknown drill ${unknown}${isShort ? ' with a short form' : ''}. --list names all.`);
  return names.length === 0 ? known : known.filter(({ name }) => names.includes(name));
}
