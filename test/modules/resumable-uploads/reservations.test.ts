import { readdir, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { resumableUploads } from '../../../src/modules/resumable-uploads/module.ts';
import { ResumableUploads } from '../../../src/modules/resumable-uploads/resumable-uploads.ts';
import type { Upload } from '../../../src/modules/resumable-uploads/upload.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { type Clock, runInWorld } from '../../../src/tools/outside-world.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';

const LIMITS = { maxSize: 1000, perClient: 8, totalSize: 10_000, expiry: 86_400_000 };
const BUSY = { code: 'ServiceUnavailable' };
const SHARE = { code: 'TooManyRequests', message: /share of/ };

type ServedParts = Parameters<NonNullable<typeof resumableUploads.serve>>[0];

type Depositors = {
  readonly create: (client: string, length?: number) => Promise<Upload>;
  readonly send: (upload: Upload, bytes?: number) => Promise<void>;
  readonly wait: (seconds: number) => void;
  readonly uploads: ResumableUploads;
  readonly folder: string;
};

async function withUploads(
  t: ExecutionContext,
  work: (depositors: Depositors) => Promise<void>,
  limits: Partial<typeof LIMITS> = {},
): Promise<void> {
  let now = Date.parse('2026-03-01T10:00:00.000Z');
  const clock = { ...CLOCK_OF_NODE, now: () => now, date: () => new Date(now) };
  const folder = path.join(await temporaryFolder(t), 'uploads');
  await runInWorld({ clock }, async () => {
    const options = { folder, limits: { ...LIMITS, ...limits }, logger: silentLogger };
    await using uploads = await ResumableUploads.open(options);
    await work({
      create: (client, length = 1000) =>
        uploads.create({ client, collection: 'software', length, metadata: null }),
      send: (upload, bytes = 1) => upload.append(uploads.withRoom(upload, pieces(bytes))),
      wait: (seconds) => {
        now += seconds * 1000;
      },
      uploads,
      folder,
    });
  });
}

async function* pieces(bytes: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(bytes);
}

async function createUntilRefused(t: ExecutionContext, create: () => Promise<Upload>): Promise<Upload[]> {
  const made: Upload[] = [];
  for (;;) {
    const upload = await create().catch((error: unknown) => error);
    if (upload instanceof Error) {
      t.like(upload, { code: 'TooManyRequests' });
      return made;
    }
    made.push(upload as Upload);
  }
}

test('a client without reservations gets space, whatever other clients reserve', async (t) => {
  await withUploads(t, async ({ create }) => {
    const counts: number[] = [];
    for (const client of ['a', 'b', 'c', 'd']) {
      const made = await createUntilRefused(t, () => create(client));
      counts.push(made.length);
    }
    t.deepEqual(counts, [5, 2, 1, 1], 'shares of the remaining space');
    const error = await t.throwsAsync(create('a'), SHARE);
    t.regex(error?.message ?? '', /^Your unfinished uploads still need 5000 bytes/);
  });
});

test('space reserved without a byte in 60 seconds is released, and the upload can resume later', async (t) => {
  await withUploads(
    t,
    async ({ create, send, wait, uploads }) => {
      const upload = await create('a');
      await send(upload, 100);
      wait(59);
      await t.throwsAsync(create('b'), BUSY);
      wait(2);
      const other = await create('b', 900);
      t.is(uploads.find(upload.id, upload.record), upload);
      await t.throwsAsync(send(upload), BUSY, 'before any byte of it is stored');
      t.is(upload.offset, 100);
      wait(23 * 3600);
      await send(upload, 900);
      t.is(upload.offset, upload.length);
      await t.throwsAsync(send(other), BUSY, 'stored bytes remain');
    },
    { totalSize: 1000 },
  );
});

test('an upload of a clock that was ahead reserves its space no longer than others, and expires', async (t) => {
  await withUploads(
    t,
    async ({ create, send, wait, uploads }) => {
      const upload = await create('a');
      wait(-365 * 86_400);
      await uploads.sweep();
      await t.throwsAsync(create('b'), BUSY);
      wait(61);
      await send(await create('b'), 1000);
      t.is(uploads.find(upload.id, upload.record), upload);
      wait(86_400);
      await uploads.sweep();
      t.is(uploads.find(upload.id, upload.record), undefined);
    },
    { totalSize: 1000 },
  );
});

test('a client that sends one byte a minute holds only its share', async (t) => {
  await withUploads(t, async ({ create, send, wait }) => {
    const all: Upload[] = [];
    for (const client of ['a', 'b']) {
      for (let count = 0; count < 8; count += 1) {
        all.push(await create(client));
        wait(61);
      }
    }
    const sent = await Promise.allSettled(all.map((upload) => send(upload)));
    t.is(sent.filter(({ status }) => status === 'fulfilled').length, 7, '5 of one client, 2 of the other');
    await send(await create('c'), 1000);
  });
});

test('a client whose stored bytes exceed its share can still finish its uploads one by one', async (t) => {
  await withUploads(t, async ({ create, send, wait }) => {
    const mine: Upload[] = [];
    for (let count = 0; count < 5; count += 1) {
      const upload = await create('a');
      await send(upload, 900);
      mine.push(upload);
    }
    wait(61);
    await createUntilRefused(t, () => create('b'));
    for (const upload of mine) await send(upload, 100);
    t.true(mine.every(({ offset, length }) => offset === length));
  });
});

test('used uploads are not looked at for each new one', async (t) => {
  await withUploads(
    t,
    async ({ create, uploads }) => {
      let looks = 0;
      for (let depositId = 1; depositId <= 20; depositId += 1) {
        const upload = await create('alice', 1);
        await upload.use(depositId, 'a'.repeat(64));
        const { state } = upload;
        Object.defineProperty(upload, 'state', { get: () => (looks += 1) && state });
      }
      const removed = await create('alice', 1);
      looks = 0;
      await create('alice', 1);
      t.is(looks, 0);
      await uploads.remove(removed);
      for (let open = 1; open < LIMITS.perClient; open += 1) await create('alice', 1);
      await t.throwsAsync(create('alice', 1), { code: 'TooManyRequests' });
    },
    { totalSize: 1_000_000 },
  );
});

test('an upload begun long ago that has received bytes lately does not expire with a restart', async (t) => {
  const options = {
    folder: path.join(await temporaryFolder(t), 'uploads'),
    limits: LIMITS,
    logger: silentLogger,
  };
  const longAgo = Date.now() - 2 * LIMITS.expiry;
  const clock = { ...CLOCK_OF_NODE, now: () => longAgo, date: () => new Date(longAgo) };
  const { id, record } = await runInWorld({ clock }, async () => {
    await using uploads = await ResumableUploads.open(options);
    const upload = await uploads.create({ client: 'a', collection: 'software', length: 2, metadata: null });
    await upload.append(pieces(1)); // the file has the time of the host
    return upload;
  });
  await using uploads = await ResumableUploads.open(options);
  t.is(uploads.find(id, record)?.offset, 1);
});

test('uploads expire although resumable uploads have been disabled since', async (t) => {
  await withUploads(t, async ({ create, send, wait, folder }) => {
    const upload = await create('alice');
    await send(upload);
    const old = new Date(Date.parse(upload.record.createdAt));
    await utimes(path.join(folder, `${upload.id}.bytes`), old, old);
    wait(2 * 86_400);
    const config = { dataDir: path.dirname(folder), uploadLimits: { ...LIMITS, maxSize: 0 } };
    await using resources = new AsyncDisposableStack();
    const parts = { config, logger: silentLogger, resources } as unknown as ServedParts;
    t.is(await resumableUploads.serve?.(parts), undefined);
    t.deepEqual(await readdir(folder), []);
  });
});

test('an upload that was removed since it was found cannot be changed', async (t) => {
  await withUploads(t, async ({ create, uploads }) => {
    const upload = await create('alice');
    await uploads.remove(upload);
    await t.throwsAsync(uploads.hold(upload), { code: 'NotFound' });
  });
});

test('an upload that could not be created reserves no space', async (t) => {
  await withUploads(
    t,
    async ({ create, folder }) => {
      await rename(folder, `${folder}.away`);
      await t.throwsAsync(create('alice'), { code: 'ServiceUnavailable' });
      await rename(`${folder}.away`, folder);
      await create('alice');
    },
    { totalSize: 1000 },
  );
});

test('a stop interrupts the senders that are left after a grace period', async (t) => {
  const setTimeout: Clock['setTimeout'] = (work, ms = 0, ...args) =>
    CLOCK_OF_NODE.setTimeout(work, ms / 1000, ...args);
  const clock = { ...CLOCK_OF_NODE, setTimeout };
  await runInWorld({ clock }, async () => {
    const folder = path.join(await temporaryFolder(t), 'uploads');
    await using uploads = await ResumableUploads.open({ folder, limits: LIMITS, logger: silentLogger });
    const upload = await uploads.create({ client: 'a', collection: 'software', length: 1, metadata: null });
    const { promise: interrupted, resolve } = Promise.withResolvers<void>();
    using _held = await uploads.hold(upload, { interrupt: resolve });
    uploads.hurry();
    await interrupted;
    t.pass();
  });
});

test('a stop does not wait without limit for a request that holds an upload', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  const uploads = await ResumableUploads.open({ folder, limits: LIMITS, logger: silentLogger });
  const upload = await uploads.create({ client: 'alice', collection: 'software', length: 1, metadata: null });
  using _held = await uploads.hold(upload);
  await t.notThrowsAsync(uploads[Symbol.asyncDispose]());
});
