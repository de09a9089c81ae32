import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { UploadLocks } from '../../../src/modules/resumable-uploads/upload-locks.ts';
import { tarOf } from '../../../testing/archives/archive-builders.ts';
import { assertSwordError } from '../../../testing/documents/sword-error.ts';
import { failFileCalls } from '../../../testing/event-log/failing-file-calls.ts';
import {
  archiveHeaders,
  entryHeaders,
  final,
  helloEntry,
  partial,
} from '../../../testing/http/deposit-bodies.ts';
import { pieceHeaders, TusUploads } from '../../../testing/http/tus-uploads.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../../testing/service/running-service.ts';
import { begun, LIMITS, OWNER, opened, slowly } from './opened-uploads.ts';

test.serial('bytes after a failed write do not replace the lost ones', async (t) => {
  const { upload, file } = await begun(t, 30_000);
  const bytes = randomBytes(30_000);
  const faults = await failFileCalls(t, 'writev', (count) => count === 2);
  await t.throwsAsync(upload.append(slowly(bytes, 10_000)), { code: 'ServiceUnavailable' });
  t.is(faults.failed(), 1);
  t.is(upload.offset, 10_000);
  await upload.append(slowly(bytes.subarray(10_000), 10_000));
  t.is(upload.offset, 30_000);
  t.deepEqual(await readFile(file), bytes);
});

test.serial('a chunk with a checksum whose write fails leaves no bytes', async (t) => {
  const { upload, file } = await begun(t, 30_000);
  const bytes = randomBytes(30_000);
  const checksum = { algorithm: 'sha1', digest: createHash('sha1').update(bytes).digest() } as const;
  await failFileCalls(t, 'writev', (count) => count === 2);
  await t.throwsAsync(upload.append(slowly(bytes, 10_000), checksum), { code: 'ServiceUnavailable' });
  t.is((await readFile(file)).length, 0);
});

test.serial('an upload that cannot be made durable leaves no file', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  const uploads = await opened(t, folder);
  const faults = await failFileCalls(t, 'sync');
  const creating = uploads.create({ ...OWNER, length: 1, metadata: null });
  await t.throwsAsync(creating, { code: 'ServiceUnavailable' });
  faults.works();
  t.deepEqual(await readdir(folder), []);
});

test.serial('a successful sync after a failed one does not make lost bytes count', async (t) => {
  const size = 10 * 1024 ** 2;
  const { upload, file } = await begun(t, size);
  const bytes = randomBytes(size);
  const faults = await failFileCalls(t, 'datasync', (count) => count === 1);
  await t.throwsAsync(upload.append(slowly(bytes, 512 * 1024)), { code: 'ServiceUnavailable' });
  t.is(faults.failed(), 1);
  t.is(upload.offset, 0);
  await upload.append(slowly(bytes, 512 * 1024));
  t.true((await readFile(file)).equals(bytes));
});

test.serial('an archive with a failed write becomes done with the sent bytes', async (t) => {
  await using service = await RunningService.start({ uploadLimits: LIMITS });
  const alice = await service.register('alice', { collections: ['software'] });
  const uploads = new TusUploads(alice);
  const archive = tarOf([{ name: 'a/noise', data: randomBytes(60_000) }]);
  const iri = await uploads.begin(archive.length);
  const faults = await failFileCalls(t, 'writev', (count) => count === 2);
  const body = ReadableStream.from(slowly(archive, 10_000));
  const init = { method: 'PATCH', body, duplex: 'half' as const };
  const headers = { ...pieceHeaders(0), Authorization: alice.authorization };
  await assertSwordError(t, await fetch(iri, { ...init, headers }), 503, 'ServiceUnavailable');
  t.is(faults.failed(), 1);
  faults.works();
  const offset = await uploads.offset(iri);
  t.is((await uploads.patch(iri, offset, archive.subarray(offset))).status, 204);
  const named = { ...archiveHeaders('a.tar', 'application/x-tar'), ...partial, Upload: iri };
  const edit = (await alice.post('/1/software/', null, named)).headers.get('location') ?? '';
  await alice.post(edit, helloEntry, { ...entryHeaders(), ...final });
  await alice.waitFor(edit.replace('metadata', 'status'), 'done');
  const stored = await alice.get(edit.replace('metadata', 'media'));
  t.true(Buffer.from(await stored.bytes()).equals(archive));
});

test.serial('a sender whose bytes wait for a slow disk has not stalled', async (t) => {
  const locks = new UploadLocks(10);
  let interrupted = 0;
  const interrupt = (): void => {
    interrupted += 1;
    lock[Symbol.dispose]();
  };
  using lock = await locks.acquire('a', { interrupt });
  await pause(50); // the file is opened
  await locks.withoutStalled('a');
  const chunks = lock.watched(slowly(randomBytes(2), 1));
  await chunks.next();
  await pause(50); // the chunk is written
  await locks.withoutStalled('a');
  await t.throwsAsync(locks.acquire('a'), { code: 'UploadLocked' });
  t.is(interrupted, 0);
  using _other = await locks.acquire('a', { insists: true });
  t.is(interrupted, 1);
});

test.serial('a sender whose bytes have all arrived is not interrupted while they are stored', async (t) => {
  const locks = new UploadLocks(10);
  const interrupt = (): void => {
    t.fail();
    lock[Symbol.dispose]();
  };
  using lock = await locks.acquire('a', { interrupt });
  for await (const _chunk of lock.watched(slowly(randomBytes(1), 1)));
  await pause(50); // the last bytes are synced
  await locks.withoutStalled('a');
  await t.throwsAsync(locks.acquire('a', { insists: true }), { code: 'UploadLocked' });
});
