import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const PROGRAM = path.resolve('scripts/test.ts');

test('a test is counted whose mark arrives in two parts', async (t) => {
  const folder = await temporaryFolder(t);
  const parts = `printf '  \\342\\234'; sleep 0.2; printf '\\224 a test\\n'`;
  for (const command of ['biome', 'tsc', 'oxlint', 'node', 'ava'])
    await writeFile(path.join(folder, command), `#!/bin/sh\n${command === 'ava' ? parts : ''}\n`, {
      mode: 0o755,
    });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const ran = promisify(execFile)(process.execPath, [PROGRAM, '*.test.ts'], { env, cwd: folder });
  t.regex((await ran).stdout, /\n1 passed, 0 failed\n$/);
});
