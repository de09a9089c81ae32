import { createHash, randomBytes } from 'node:crypto';
import { cp, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { ResumableUploads } from '../../../src/modules/resumable-uploads/resumable-uploads.ts';
import { FILES_OF_NODE, type files } from '../../../src/tools/files.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { type Files, runInWorld } from '../../../src/tools/outside-world.ts';
import { tarOf } from '../../../testing/archives/archive-builders.ts';
import { assertSwordError } from '../../../testing/documents/sword-error.ts';
import { failFileCalls } from '../../../testing/event-log/failing-file-calls.ts';
import { archiveHeaders, partial } from '../../../testing/http/deposit-bodies.ts';
import { TusUploads } from '../../../testing/http/tus-uploads.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../../testing/service/running-service.ts';
import { begun, LIMITS, OWNER, opened, slowly } from './opened-uploads.ts';

test.serial('unverified bytes that cannot be truncated do not count after a restart', async (t) => {
  const { upload, folder } = await begun(t, 20_000);
  const bytes = randomBytes(20_000);
  await upload.append(slowly(bytes.subarray(0, 5000)));
  const { works } = await failFileCalls(t, 'truncate');
  const wrong = { algorithm: 'sha1', digest: createHash('sha1').digest() } as const;
  const code = 'UploadChecksumMismatch';
  await t.throwsAsync(upload.append(slowly(bytes.subarray(5000)), wrong), { code });
  t.is(upload.offset, 5000);
  works();
  const copy = path.join(await temporaryFolder(t), 'uploads');
  await cp(folder, copy, { recursive: true });
  const next = await opened(t, copy);
  t.is(next.find(upload.id, OWNER)?.offset, 5000);
});

test.serial('a start reads uploads concurrently, and syncs none that is as recorded', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  const options = { folder, limits: LIMITS, logger: silentLogger };
  const ids: string[] = [];
  {
    await using uploads = await ResumableUploads.open(options);
    for (let number = 0; number < 40; number += 1) {
      const upload = await uploads.create({ ...OWNER, length: 20, metadata: null });
      await upload.append(slowly(Buffer.from('ten bytes.')));
      ids.push(upload.id);
    }
  }
  const syncs = await failFileCalls(t, 'datasync');
  let [reading, most] = [0, 0];
  const readFile = async (...args: Parameters<typeof files.readFile>) => {
    reading += 1;
    most = Math.max(most, reading);
    return await FILES_OF_NODE.readFile(...args).finally(() => void (reading -= 1));
  };
  const world = { files: { ...FILES_OF_NODE, readFile } as Files };
  await using next = await runInWorld(world, () => ResumableUploads.open(options));
  for (const id of ids) t.is(next.find(id, OWNER)?.offset, 10);
  t.is(syncs.failed(), 0);
  t.true(most > 1 && most <= 16, `${most} at once`);
});

test.serial('after a restart no client learns an offset before its record is synced', async (t) => {
  await using service = await RunningService.start({ uploadLimits: LIMITS });
  const alice = await service.register('alice', { collections: ['software'] });
  const uploads = new TusUploads(alice);
  const iri = await uploads.begin(20);
  await uploads.patch(iri, 0, Buffer.from('ten bytes.'));
  await service.stop();
  await service.startAgain();
  const [again, place] = [new TusUploads(alice.at(service.url)), new URL(iri).pathname];
  const faults = await failFileCalls(t, 'datasync');
  t.is((await again.head(place)).status, 503);
  faults.works();
  for (const _ of [1, 2]) t.is(await again.offset(place), 10);
});

test.serial('an upload whose failed write cannot be undone is unusable until it is', async (t) => {
  await using service = await RunningService.start({ uploadLimits: LIMITS });
  const alice = await service.register('alice', { collections: ['software'] });
  const uploads = new TusUploads(alice);
  const archive = tarOf([{ name: 'a/noise', data: randomBytes(100_000) }]);
  const iri = await uploads.begin(archive.length);
  await uploads.patch(iri, 0, archive.subarray(0, 50_000));
  const datasync = await failFileCalls(t, 'datasync');
  const truncate = await failFileCalls(t, 'truncate');
  const rest = archive.subarray(50_000);
  await assertSwordError(t, await uploads.patch(iri, 50_000, rest), 503, 'ServiceUnavailable');
  datasync.works();
  const id = /([0-9a-f-]{36})\/$/.exec(iri)?.[1] ?? '';
  const file = path.join(service.folder, 'uploads', `${id}.bytes`);
  t.is((await stat(file)).size, archive.length, 'bytes without a record');
  const headers = { ...archiveHeaders('a.tar', 'application/x-tar'), ...partial, Upload: iri };
  const name = (): Promise<Response> => alice.post('/1/software/', null, headers);
  t.regex(await assertSwordError(t, await name(), 409, 'Conflict'), /until a failed write is undone/);
  await assertSwordError(t, await uploads.patch(iri, 50_000, rest), 503, 'ServiceUnavailable');
  t.is(await uploads.offset(iri), 50_000);
  truncate.works();
  t.regex(await assertSwordError(t, await name(), 409, 'Conflict'), /has 50000 of its/);
  t.is((await stat(file)).size, 50_000);
  t.is((await uploads.patch(iri, 50_000, rest)).status, 204);
  t.deepEqual(await readFile(file), archive);
  t.is((await name()).status, 201);
});

test.serial('no byte of a chunk that is too long counts, also of those synced before', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  await using uploads = await ResumableUploads.open({ folder, limits: LIMITS, logger: silentLogger });
  const length = 12 * 1024 ** 2;
  const upload = await uploads.create({ ...OWNER, length, metadata: null });
  const source = slowly(randomBytes(length + 1), 1024 ** 2);
  await t.throwsAsync(upload.append(source), { code: 'MaxUploadSizeExceeded' });
  t.is(upload.offset, 0);
  t.true((await readFile(path.join(folder, `${upload.id}.json`), 'utf8')).startsWith('{"durableLength":0 '));
});
