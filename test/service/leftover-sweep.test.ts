import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { sweepLeftovers } from '../../src/service/leftover-sweep.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import type { S3Bucket } from '../../testing/s3/s3-bucket.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import { inChunks } from '../object-store/bodies.ts';

const HOUR = 3_600_000;

test('a service removes leftovers older than a day below incoming/ of its bucket, at start and daily', async (t) => {
  const { swept, bucket, lines } = await onS3(t);
  await leave(bucket, 'old', 25 * HOUR);
  await leave(bucket, 'young', 23 * HOUR);
  using _atStart = await sweepLeftovers(swept);
  await until(async () => !bucket.objects.has(keyOf('old')));
  await until(async () => lines.some(({ msg }) => msg === 'uploads left in the bucket removed'));
  t.deepEqual([...bucket.objects.keys()], [keyOf('young')]);
  t.is(bucket.uploads.size, 1);
  using _daily = await sweepLeftovers(swept, 100);
  await leave(bucket, 'later', 25 * HOUR);
  await until(async () => !bucket.objects.has(keyOf('later')));
  await leave(bucket, 'later', 25 * HOUR); // the first one may have been found by the sweep at the start
  await until(async () => !bucket.objects.has(keyOf('later')) && bucket.uploads.size === 1);
  t.deepEqual([...bucket.objects.keys()], [keyOf('young')]);
});

test('a bucket that is unavailable during a sweep is swept the next time', async (t) => {
  const { swept, server, bucket, lines } = await onS3(t);
  await leave(bucket, 'old', 25 * HOUR);
  server.state = 'no-format';
  using _sweep = await sweepLeftovers(swept, 200);
  await until(async () => lines.some(({ msg }) => msg === 'uploads left in the bucket not removed'));
  server.state = 'healthy';
  await until(async () => bucket.objects.size === 0);
  t.is(bucket.uploads.size, 0);
});

test('a service removes files unchanged for an hour, at start and daily', async (t) => {
  const folder = await temporaryFolder(t);
  await using store = await FilesystemObjectStore.open({ folder });
  const { logger } = keptLines();
  const file = (name: string) => path.join(folder, 'incoming', name);
  const leaveFile = async (name: string, age: number) => {
    const then = new Date(Date.now() - age);
    await writeFile(file(name), 'cut off');
    await utimes(file(name), then, then);
  };
  await leaveFile('old', HOUR + 60_000);
  await leaveFile('young', HOUR - 600_000);
  const config = { archiveStore: { kind: 'file', folder }, dataDir: folder } as const;
  using _sweep = await sweepLeftovers({ config, store, logger }, 100);
  t.deepEqual([existsSync(file('old')), existsSync(file('young'))], [false, true]);
  await leaveFile('later', HOUR + 60_000);
  await until(async () => !existsSync(file('later')));
  t.true(existsSync(file('young')));
});

test('a local copy of an object that waits in use for more than an hour is not removed', async (t) => {
  const { swept } = await onS3(t);
  const { sha256 } = await swept.store.put(inChunks(Buffer.alloc(2_000_000)));
  await using local = await swept.store.materialize(sha256);
  if (local.source.kind !== 'file') return t.fail('the object is too small for a file');
  const used = local.source.path;
  const unused = path.join(path.dirname(used), 'left-by-a-killed-process');
  await writeFile(unused, 'cut off');
  const then = new Date(Date.now() - 2 * HOUR);
  for (const file of [used, unused]) await utimes(file, then, then);
  using _sweep = await sweepLeftovers(swept);
  t.deepEqual([existsSync(used), existsSync(unused)], [true, false]);
});

async function onS3(t: ExecutionContext) {
  const server = await S3Server.start();
  t.teardown(() => server[Symbol.asyncDispose]());
  const bucket = server.makeBucket('archives');
  const dataDir = await temporaryFolder(t);
  const archiveStore = server.store('archives');
  const store = await S3ObjectStore.open({ ...archiveStore, temporaryFolder: dataDir });
  t.teardown(() => store[Symbol.asyncDispose]());
  const { logger, lines } = keptLines();
  const config = { archiveStore, dataDir };
  return { swept: { config, store, logger }, server, bucket, lines };
}

/** Leaves a key and an upload to it, as a killed process does. */
async function leave(bucket: S3Bucket, name: string, age: number): Promise<void> {
  const key = keyOf(name);
  bucket.beginUpload(key);
  const body = { file: '/nonexistent', length: 0, md5: 'd41d8cd98f00b204e9800998ecf8427e' };
  bucket.objects.set(key, { body, etag: body.md5, modified: new Date(Date.now() - age) });
}

/** Returns a key as a service makes it. */
function keyOf(name: string): string {
  const digits = hash('md5', name);
  return `incoming/${digits.slice(0, 8)}-${digits.slice(8, 20).replace(/.{4}/g, '$&-')}${digits.slice(20)}`;
}
