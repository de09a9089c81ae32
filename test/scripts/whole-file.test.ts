import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { writeWholeFile } from '../../scripts/whole-file.ts';
import { failFileCalls } from '../support/failing-file-calls.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const lines = async function* () {
  yield 'one\n';
  yield 'two\n';
};
const { signal } = new AbortController();

test.serial('a file whose name is not synced is not reported as written', async (t) => {
  const file = path.join(await temporaryFolder(t), 'export');
  const syncs = await failFileCalls(t, 'sync', (count) => count === 2);
  await t.throwsAsync(writeWholeFile(file, lines(), signal), { code: 'EIO' });
  t.is(syncs.failed(), 1, 'the folder is synced after the file');
  t.true(existsSync(file));
  syncs.works();
  await writeWholeFile(file, lines(), signal);
  t.is(await readFile(file, 'utf8'), 'one\ntwo\n');
});

test.serial('a file whose bytes are not synced does not appear', async (t) => {
  const folder = await temporaryFolder(t);
  await failFileCalls(t, 'sync');
  await t.throwsAsync(writeWholeFile(path.join(folder, 'export'), lines(), signal), { code: 'EIO' });
  t.deepEqual(await readdir(folder), []);
});
