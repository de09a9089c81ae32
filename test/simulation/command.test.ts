import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

/** A plan in which nodes start, and nothing is deposited. */
const PLAN = { seed: 7, stuckAfter: 86_400_000, faults: [], deposits: [] };

test.serial(
  '--every-step runs a history once for each step of each node, and crashes after it',
  async (t) => {
    t.timeout(300_000);
    const folder = await temporaryFolder(t);
    const file = path.join(folder, 'plan.json');
    await writeFile(file, JSON.stringify(PLAN));
    const { code, out, err } = await runScript(folder, 'simulate', [
      '--every-step',
      '--plan',
      file,
      '--json',
    ]);
    t.is(code, 0, err);
    const total = JSON.parse(out.trim().split('\n').at(-1) ?? '') as Totals;
    t.true(total.histories > 20);
    t.is(total.counts.faults['crash'], total.histories);
    t.true((total.counts.crashPoints['view save done'] ?? 0) > 0);
  },
);

test.serial('--record adds the totals of each run to a file', async (t) => {
  t.timeout(300_000);
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'runs.md');
  for (const seed of ['1', '2']) {
    const { code, err } = await runScript(folder, 'simulate', [
      '--seeds',
      '1',
      '--seed',
      seed,
      '--record',
      file,
    ]);
    t.is(code, 0, err);
  }
  const text = await readFile(file, 'utf8');
  t.regex(
    text,
    /^\| \S+ \| [\da-f]{10}\+? \| 1 \| 1 \| 0 \| \d+ \|\n\| \S+ \| \S+ \| 2 \| 1 \| 0 \| \d+ \|$/m,
  );
  t.regex(text, /^\*\*2 histories, 0 with a violation, in \d+ CPU seconds\.\*\*$/m);
});

test.serial('conflicting options are refused', async (t) => {
  for (const wrong of [
    ['--every-step', '--seeds', '3'],
    ['--record', 'x.md', '--seed', '1'],
    ['--seeds', '1', '--mutation', 'b6-newer-version-removed', '--record', 'x.md'],
  ])
    t.is((await runScript(tmpdir(), 'simulate', wrong)).code, 2, wrong.join(' '));
});

type Totals = {
  readonly histories: number;
  readonly counts: Readonly<Record<'faults' | 'crashPoints', Readonly<Record<string, number>>>>;
};
