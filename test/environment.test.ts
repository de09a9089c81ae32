import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { outcomeOf } from '../testing/processes/run-script.ts';
import { temporaryFolder } from '../testing/processes/temporary-folder.ts';

const root = path.join(import.meta.dirname, '..');

type Package = { readonly ava: { readonly require: readonly string[] } };

const PRELOADED = './testing/processes/without-service-settings.ts';

test('neither a test nor a command started by it inherits settings of a service', async (t) => {
  const { ava } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Package;
  t.true(ava.require.includes(PRELOADED));
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'any.mts');
  await writeFile(file, SHOW);
  const env = { ...process.env, DEPOSIT_PORT: 'none', DEPOSIT_ROLES: 'none', OTHER: 'kept' };
  const child = spawn(process.execPath, ['--import', path.join(root, PRELOADED), file], { env });
  const { code, out, err } = await outcomeOf(child);
  t.is(code, 0, err);
  t.deepEqual(JSON.parse(out), { settings: [], other: 'kept' });
});

/** Prints the environment of a process that the test starts. */
const SHOW = `
import { execFileSync } from 'node:child_process';
const show = "const names = Object.keys(process.env).filter((name) => name.startsWith('DEPOSIT_'));"
  + "console.log(JSON.stringify({ settings: names, other: process.env.OTHER }))";
process.stdout.write(execFileSync(process.execPath, ['-e', show]));
`;
