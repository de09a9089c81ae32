import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { MUTATIONS } from '../../simulation/mutations.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
/** Known faults of real servers whose fixes are removed one at a time. */
const KNOWN = ['l1', 'l4', 'l5', 'l6', 'l21', 'b1', 'b5', 'b6', 'b24', 'b25'];

test('every mutation applies to the sources, and names what it removes', async (t) => {
  for (const { name, patch, what } of MUTATIONS.values()) {
    await t.notThrowsAsync(run('git', ['apply', '--check', patch], { cwd: ROOT }), name);
    t.regex(what, /^\S.*\.$/, name);
  }
});

test('a mutation that a test finds names an existing file and a title in it', async (t) => {
  let named = 0;
  for (const { name, guard } of MUTATIONS.values()) {
    if (guard.by !== 'command') continue;
    const [, file = '', pattern = ''] = /^npx ava (\S+)(?: --match '([^']+)')?$/.exec(guard.command) ?? [];
    if (file === '') continue;
    const source = await readFile(path.join(ROOT, file), 'utf8');
    t.true(source.includes(pattern.replaceAll('*', '')), `${name}: ${file} has no title ${pattern}`);
    named += 1;
  }
  t.true(named > 3);
});

test('each known defect has a mutation', (t) => {
  const names = [...MUTATIONS.keys()];
  for (const defect of KNOWN)
    t.true(
      names.some((name) => name.startsWith(`${defect}-`)),
      defect,
    );
});
