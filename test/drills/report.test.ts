import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { PROGRAMME } from '../../drills/frame/programme.ts';
import { describeRun, markdownReport, summary } from '../../drills/frame/report.ts';
import type { DrillRun } from '../../drills/frame/run-drill.ts';

const folder = path.join(import.meta.dirname, '../../drills');

const held: DrillRun = {
  name: 'kill-under-load',
  seconds: 12.4,
  tried: 'SIGKILL 200 times | under load.',
  held: 'All is there.',
  broken: [],
  numbers: { kills: 200, acknowledged: 4321, lost: 0, 'orphans swept': 7 },
};
const broken: DrillRun = {
  ...held,
  name: 'flip-wal',
  broken: ['One was lost.'],
  numbers: { kills: 2, lost: 1 },
};
const skipped: DrillRun = { ...held, name: 'fsync-order', numbers: {}, skipped: 'strace is not installed' };

test('the programme lists exactly the existing drills', (t) => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const drills = files.filter((file) =>
    /import \{[^}]*\brun(Watched)?Drill\b/.test(readFileSync(path.join(folder, file), 'utf8')),
  );
  t.deepEqual(PROGRAMME.map(({ name }) => `${name}.ts`).toSorted(), drills.toSorted());
  t.is(PROGRAMME.at(-1)?.name, 'secrets-scan', 'it examines the leftovers of the others');
});

test('a report lists what was tried, held, broken and skipped, and totals everything', (t) => {
  const runs = [held, broken, skipped];
  const report = markdownReport({ runs, isShort: false, begunAt: '2026-03-01T10:00:00.000Z' });
  t.is(summary(runs), '3 drills: 1 held, 1 broken, 1 skipped.');
  t.true(report.includes('| `kill-under-load` | SIGKILL 200 times \\| under load. | All is there. |'));
  t.true(report.includes('**BROKEN**: One was lost.'));
  t.true(report.includes('skipped: strace is not installed'));
  for (const line of ['- kills: 202', '- acknowledged: 4,321', '- lost: 1', '- orphans swept: 7'])
    t.true(report.includes(line), line);
  t.regex(describeRun(broken), /\n {2}BROKEN: One was lost\.\n/);
  t.notRegex(describeRun(broken), /held:/);
});
