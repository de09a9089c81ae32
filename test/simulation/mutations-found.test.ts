import { spawn } from 'node:child_process';
import path from 'node:path';
import test from 'ava';
import { outcomeOf } from '../../testing/processes/run-script.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** A lost expected revision, a checkpoint written early and a skipped fsync. */
const QUICKLY_FOUND = ['revision-not-checked', 'acknowledged-when-received', 'skipped-fsync'];

test('the mutation drill finds three mutations in a minute each', async (t) => {
  t.timeout(300_000);
  const only = QUICKLY_FOUND.flatMap((name) => ['--only', name]);
  const { code, out, err } = await outcomeOf(
    spawn(process.execPath, ['drills/mutations.ts', '--seconds', '60', '--json', ...only], { cwd: ROOT }),
  );
  t.is(code, 0, err);
  t.is((JSON.parse(out) as { readonly numbers: { readonly found: number } }).numbers.found, 3);
});
