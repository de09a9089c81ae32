import { createHash, randomBytes } from 'node:crypto';
import { appendFile, cp, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Checksum, Upload } from '../../../src/modules/resumable-uploads/upload.ts';
import { failFileCalls } from '../../../testing/event-log/failing-file-calls.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { begun, OWNER, opened } from './opened-uploads.ts';

const bytes = randomBytes(20_000);

test('zeros after the synced bytes do not count after a power cut', async (t) => {
  const { upload, folder } = await begun(t, bytes.length);
  await upload.append(pieces(bytes.subarray(0, 5000)));
  await upload.append(pieces(bytes.subarray(5000, 8000)));
  const cut = await copied(t, folder);
  await appendFile(path.join(cut, `${upload.id}.bytes`), Buffer.alloc(7000)); // only the length was written
  const after = await found(t, cut, upload);
  t.is(after.offset, 8000);
  await after.append(pieces(bytes.subarray(8000)));
  t.deepEqual(await readFile(path.join(cut, `${upload.id}.bytes`)), bytes);
  t.is((await found(t, await copied(t, cut), upload)).offset, 20_000);
});

test('each length counts once it is recorded, whatever headers the chunk had', async (t) => {
  const { upload, folder } = await begun(t, bytes.length);
  const sums = [undefined, sha1Of(bytes.subarray(4000, 8000)), undefined, undefined];
  for (const [index, checksum] of sums.entries()) {
    await upload.append(pieces(bytes.subarray(index * 4000, index * 4000 + 4000)), checksum);
    const cut = await copied(t, folder);
    await appendFile(path.join(cut, `${upload.id}.bytes`), Buffer.alloc(1000));
    t.is((await found(t, cut, upload)).offset, (index + 1) * 4000);
  }
});

test('a file shorter than its record is continued where it ends', async (t) => {
  const { upload, folder } = await begun(t, bytes.length);
  await upload.append(pieces(bytes.subarray(0, 9000)));
  const cut = await copied(t, folder);
  await truncate(path.join(cut, `${upload.id}.bytes`), 6000);
  t.is((await found(t, cut, upload)).offset, 6000);
  await appendFile(path.join(cut, `${upload.id}.bytes`), Buffer.alloc(3000));
  t.is((await found(t, await copied(t, cut), upload)).offset, 6000, 'the recorded length was reduced');
});

test('with a record of an older release the file length counts, once', async (t) => {
  const { upload, folder } = await begun(t, bytes.length);
  await upload.append(pieces(bytes.subarray(0, 5000)));
  const { durableLength: _unknown, ...before } = upload.record;
  for (const record of [before, { durableLength: 3000, ...before }]) {
    const old = await copied(t, folder);
    await writeFile(path.join(old, `${upload.id}.json`), JSON.stringify(record));
    t.is((await found(t, old, upload)).offset, 5000);
    const cut = await copied(t, old);
    await appendFile(path.join(cut, `${upload.id}.bytes`), Buffer.alloc(1000));
    t.is((await found(t, cut, upload)).offset, 5000);
  }
});

test.serial('bytes whose length cannot be recorded do not count', async (t) => {
  const { upload, folder } = await begun(t, bytes.length);
  await upload.append(pieces(bytes.subarray(0, 5000)));
  const faults = await failFileCalls(t, 'datasync', (count) => count === 2); // the first is of the bytes
  await t.throwsAsync(upload.append(pieces(bytes.subarray(5000))), { code: 'ServiceUnavailable' });
  t.is(faults.failed(), 1);
  t.is(upload.offset, 5000);
  t.is((await found(t, await copied(t, folder), upload)).offset, 5000);
});

/** Opens the folder like the next process. */
async function found(t: ExecutionContext, folder: string, { id }: Upload): Promise<Upload> {
  const upload = (await opened(t, folder)).find(id, OWNER);
  if (!upload) throw new Error(`The upload ${id} is missing.`);
  return upload;
}

/** Copies the folder in its present state for another process. */
async function copied(t: ExecutionContext, folder: string): Promise<string> {
  const copy = path.join(await temporaryFolder(t), 'uploads');
  await cp(folder, copy, { recursive: true });
  return copy;
}

async function* pieces(...all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
}

function sha1Of(data: Buffer): Checksum {
  return { algorithm: 'sha1', digest: createHash('sha1').update(data).digest() };
}
