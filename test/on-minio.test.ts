import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '../testing/processes/temporary-folder.ts';

const PROGRAM = path.join(import.meta.dirname, 'on-minio.ts');

test('tests on a real MinIO report that they were skipped, which fails where CI could have built one', async (t) => {
  const [without, withGo] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeFile(path.join(withGo, 'go'), '');
  for (const [settings, code] of [
    [{ PATH: without }, 0],
    [{ PATH: without, CI: 'true' }, 0],
    [{ PATH: withGo }, 0],
    [{ PATH: withGo, CI: 'true' }, 1],
  ] as const) {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM], { env: settings, encoding: 'utf8' });
    t.is(status, code, JSON.stringify(settings));
    t.is(stdout, 'NOT RUN: tests on a real MinIO: MINIO_BIN is not set, and no minio is on the path.\n');
  }
});

test('a MINIO_BIN that cannot be executed fails the tests instead of skipping them', (t) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], {
    env: { MINIO_BIN: '/nowhere/minio' },
    encoding: 'utf8',
  });
  t.is(status, 1);
  t.regex(stderr, /ENOENT.*\/nowhere\/minio/);
});
