import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { parseS3Url } from '../../src/config/s3-url.ts';
import { listReadiness } from '../../src/object-store/list-readiness.ts';
import {
  ObjectCorrupt,
  ObjectStoreUnavailable,
  ObjectUnreadable,
} from '../../src/object-store/object-store.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { openStoreAudit } from '../../src/service/backends/open-audits.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { signatureFault } from '../../testing/s3/s3-signature.ts';
import { breakingAfter, bytesOf, heldBytes, inChunks, listOf, md5Of, newBody, sha256Of } from './bodies.ts';
import { archiveStoreContract } from './contract.ts';
import {
  keyOf,
  keysOf,
  type Opening,
  openBehindProxy,
  openBelow,
  openIn,
  PATIENT,
  placeAt,
  serverIn,
  serverProcess,
  uploadsOf,
} from './s3-under-test.ts';
import { sentInParts } from './sent-in-parts.ts';

const MB = 1_000_000;
const SMALL = 1000;
/** Size of two parts. */
const LARGE = 9 * MB;
/** Time limits without waiting for a store that refuses connections. */
const AWAY = { ...PATIENT, restart: 0 };
/** Time limits for a process without other work. */
const QUICK = { connect: 2000, idle: 2000, total: 20_000 };

const shared = S3Server.start({ pageSize: 3 });
test.after.always(async () => (await shared)[Symbol.asyncDispose]());

archiveStoreContract(async (t) => (await openShared(t)).store);

sentInParts(openShared);

for (const length of [8 * 1024 ** 2, 8 * 1024 ** 2 + 1, 16 * 1024 ** 2 + 5, 30 * MB]) {
  test(`a body of ${length} bytes is returned as it was put`, async (t) => {
    const { store, server } = await openIn(t);
    const body = newBody(length);
    const promised = { md5: md5Of(body), length };
    t.deepEqual(await store.put(inChunks(body), promised), { sha256: sha256Of(body), length });
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
    await using local = await store.materialize(sha256Of(body));
    t.true(local.source.kind === 'file' && body.equals(await readFile(local.source.path)));
    t.deepEqual(keysOf(server), [keyOf(sha256Of(body))]);
    t.is(uploadsOf(server), 0);
  });
}

test('a long body other than expected, or with a failing source, leaves neither object nor upload', async (t) => {
  const { store, server, folder } = await openIn(t);
  const body = newBody(LARGE);
  await t.throwsAsync(store.put(inChunks(body), { md5: md5Of(Buffer.of()) }), { code: 'MD5_MISMATCH' });
  await t.throwsAsync(store.put(breakingAfter(LARGE - MB / 10, body)), { name: 'ConnectionLost' });
  t.deepEqual(keysOf(server), []);
  t.is(uploadsOf(server), 0);
  t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
});

test('an object has no name in the store before its last byte is verified', async (t) => {
  const { store, server } = await openIn(t);
  const body = newBody(LARGE);
  async function* source() {
    yield* inChunks(body);
    t.deepEqual(
      keysOf(server).filter((key) => !key.startsWith('incoming/')),
      [],
    );
    t.is(await store.sweepIncoming(later()), 0, 'an object being written is not swept');
  }
  await store.put(source());
  t.deepEqual(keysOf(server), [keyOf(sha256Of(body))]);
});

test('a materialized object is a file that is removed when it is disposed of', async (t) => {
  const { store, folder } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(300_000)));
  const local = await store.materialize(sha256);
  if (local.source.kind !== 'file') return t.fail();
  t.true(existsSync(local.source.path));
  await local[Symbol.asyncDispose]();
  t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
});

test('a missing bucket is created, also by several processes at once', async (t) => {
  const server = await serverIn(t);
  const stores = await Promise.all([1, 2, 3].map(() => openIn(t, { server })));
  t.deepEqual([...server.buckets.keys()], ['archives']);
  for (const { store } of stores) await t.notThrowsAsync(store.ready());
});

test('a bucket that may not be created is reported', async (t) => {
  const server = await serverIn(t, { mayMakeBuckets: false });
  const error = await refusedAt(t, { server });
  t.regex(error.message, /cannot create the bucket archives, which does not exist: it denies access/);
});

for (const [what, wrong, code] of [
  ['secret key', { secretKey: 'another-secret' }, 'SignatureDoesNotMatch'],
  ['access key', { accessKey: 'ANOTHERKEY' }, 'InvalidAccessKeyId'],
] as const) {
  test(`a wrong ${what} is reported without being printed`, async (t) => {
    const server = await serverIn(t);
    const error = await refusedAt(t, { server, wrong });
    t.true(error.message.includes(code), error.message);
    t.true(error.cause instanceof Error);
    const { accessKey, secretKey } = server.options;
    for (const secret of [accessKey, secretKey, ...Object.values(wrong)])
      t.false(everythingIn(error).includes(secret));
  });
}

for (const kind of ['minio', 'aws'] as const) {
  test(`keys with list permission only for their own prefix suffice in a shared bucket (${kind})`, async (t) => {
    const server = await serverIn(t, { listable: 'deposits/', kind });
    server.makeBucket('archives');
    const { store } = await openIn(t, { server, wrong: { prefix: 'deposits/' } });
    const { sha256 } = await store.put(inChunks(newBody(LARGE)));
    t.is(await store.stat(sha256Of(Buffer.of())), undefined);
    t.deepEqual(
      (await listOf(store)).map((listed) => listed.sha256),
      [sha256],
    );
    t.is(await store.sweepIncoming(later()), 0);
  });
}

for (const kind of ['aws', 'swift'] as const) {
  test(`a store that answers as ${kind} stores, returns and removes objects, and ends uploads`, async (t) => {
    const { store, server, bucket } = await openIn(t, { server: await serverIn(t, { kind }) });
    for (const length of [SMALL, LARGE]) {
      const body = newBody(length);
      const { sha256 } = await store.put(inChunks(body));
      t.true(body.equals(await bytesOf(store, sha256)));
      await t.throwsAsync(store.put(breakingAfter(length - 1, body)), { name: 'ConnectionLost' });
      await store.remove(sha256);
      t.is(await store.stat(sha256), undefined);
    }
    const { sha256 } = await store.put(inChunks(Buffer.of()));
    const left = `incoming/${randomUUID()}`;
    bucket().beginUpload(left);
    bucket().put(left, { ...bucket().get(keyOf(sha256)).body, file: 'none' });
    await store.sweepIncoming(later());
    t.deepEqual([uploadsOf(server), keysOf(server)], [0, [keyOf(sha256)]]);
  });
}

test('keys that may list the prefix itself but nothing below it are refused at the start', async (t) => {
  const server = await serverIn(t);
  const proxy = await FaultProxy.start(server.port);
  t.teardown(() => proxy[Symbol.asyncDispose]());
  proxy.inject({ kind: 'status', status: 403, code: 'AccessDenied' }, /prefix=deposits%2F[^&]/);
  const error = await refusedAt(t, { server, port: proxy.port, wrong: { prefix: 'deposits/' } });
  t.regex(error.message, /^The archive store cannot use the bucket archives at .+AccessDenied/);
});

test('a store without TLS on the port of a URL with TLS is reported', async (t) => {
  const server = await serverIn(t);
  const error = await refusedAt(t, {
    server,
    wrong: { endpoint: { host: '127.0.0.1', port: server.port, tls: true } },
  });
  t.regex(
    error.message,
    /: it does not speak TLS on this port: correct the port in its URL, or add tls=false\.$/,
  );
});

test('an invalid store URL is reported', async (t) => {
  for (const wrong of [{ bucket: 'X' }, { endpoint: { host: 'not a host', port: 1, tls: false } }]) {
    await refusedAt(t, { server: await serverIn(t), wrong });
  }
});

test('a store can be audited without write access to any folder', async (t) => {
  const { store, server, folder } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(300_000)));
  const place = { kind: 's3', ...placeAt(server, server.port), prefix: '' } as const;
  const missing = path.join(folder, 'of another machine');
  const files: string[] = [];
  {
    await using audited = await openStoreAudit(place, missing);
    await using object = await audited.materialize(sha256);
    if (object.source.kind === 'file') files.push(object.source.path);
    t.deepEqual(
      files.map((file) => existsSync(file)),
      [true],
    );
  }
  t.deepEqual(
    [missing, ...files.map((file) => path.dirname(file))].map((place) => existsSync(place)),
    [false, false],
  );
});

test('a store may have an IPv6 address', async (t) => {
  const { endpoint } = parseS3Url('s3://[::1]:1/archives?tls=false');
  const error = await refusedAt(t, { server: await serverIn(t), wrong: { endpoint } });
  t.regex(
    error.message,
    /cannot use the bucket archives at \[::1\]:1: E[A-Z]+\.$/,
    'only that the server is unreachable',
  );
});

test('a store that fails during an upload is reported, and accepts the body when it is back', async (t) => {
  const { store, server, proxy, folder } = await openBehindProxy(t, { timeouts: AWAY });
  const body = newBody(20 * MB);
  async function* source() {
    yield* inChunks(body.subarray(0, 17 * MB));
    await proxy.refuse();
    yield* inChunks(body.subarray(17 * MB));
  }
  const error = await t.throwsAsync(store.put(source()), { instanceOf: ObjectStoreUnavailable });
  t.regex(
    error.message,
    /^The archive store cannot write: (ECONNREFUSED|ECONNRESET|EPIPE|the connection was lost)/,
  );
  await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable });
  t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
  await proxy.accept();
  t.deepEqual(await listOf(store), []);
  await until(async () => uploadsOf(server) === 0); // without a sweep
  await store.put(inChunks(body));
  t.deepEqual(keysOf(server), [keyOf(sha256Of(body))]);
});

const LOST = { kind: 'truncate', bytes: 5 } as const;
const BUSY = { kind: 'status', status: 503, code: 'SlowDown' } as const;
for (const [what, fault, times, request, sent] of [
  ['whose start the store did not report', LOST, Infinity, /^POST .*uploads/, LARGE],
  ['whose start the store reported on a second request', LOST, 1, /^POST .*uploads/, LARGE],
  ['that the store did not end', BUSY, Infinity, /^DELETE .*uploadId/, LARGE - MB / 10],
  ['that the store was too busy to complete', BUSY, Infinity, /^POST .*uploadId/, LARGE],
] as const) {
  test.serial(`an upload ${what} is gone after a sweep`, async (t) => {
    const { store, server, proxy } = await openBehindProxy(t);
    const body = newBody(LARGE);
    proxy.inject(fault, request, times);
    const outcome = await store
      .put(sent === LARGE ? inChunks(body) : breakingAfter(sent, body))
      .catch(() => {});
    t.is(outcome !== undefined, times === 1);
    proxy.heal();
    await store.sweepIncoming(later());
    t.is(uploadsOf(server), 0);
    t.false(keysOf(server).some((key) => key.startsWith('incoming/')));
  });
}

test('several processes may sweep concurrently', async (t) => {
  const server = await serverIn(t);
  const stores = await Promise.all([1, 2, 3].map(() => openIn(t, { server })));
  const [{ store, bucket }] = stores as [(typeof stores)[number]];
  const left = Array.from({ length: 20 }, () => `incoming/${randomUUID()}`);
  for (const key of left) bucket().beginUpload(key);
  const { sha256 } = await store.put(inChunks(Buffer.of()));
  const { body } = bucket().get(keyOf(sha256));
  left.forEach((key, at) => bucket().put(key, { ...body, file: `${body.file}-${at}` }));
  await Promise.all(stores.map((one) => one.store.sweepIncoming(later())));
  t.is(uploadsOf(server), 0);
  t.deepEqual(keysOf(server), [keyOf(sha256)]);
});

test('a request is retried after one failed connection or one busy response', async (t) => {
  const { store, proxy } = await openBehindProxy(t);
  for (const length of [SMALL, LARGE]) {
    const body = newBody(length);
    proxy.inject({ kind: 'reset', afterBytes: 500 }, /^PUT .*(v1\/|partNumber=2)/, 1);
    await store.put(inChunks(body));
    proxy.inject({ kind: 'status', status: 503, code: 'SlowDown' }, /^GET/, 2);
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
    proxy.inject({ kind: 'html' }, /^PUT .*(v1\/|partNumber=2)/, 1);
    await t.notThrowsAsync(store.put(inChunks(body)), 'as Swift answers one of two concurrent writes');
    proxy.inject(
      { kind: 'status', status: 200, code: 'InternalError' },
      /^PUT .*v1\//,
      length === LARGE ? 1 : 0,
    );
    await t.notThrowsAsync(store.put(inChunks(body)), 'a copy that fails after its answer began');
  }
});

test('a store that stays busy, or is full, is reported', async (t) => {
  const { store, proxy } = await openBehindProxy(t);
  for (const [status, code] of [
    [507, 'XMinioStorageFull'],
    [400, 'XMinioAdminBucketQuotaExceeded'],
    [403, 'QuotaExceeded'], // of Ceph
  ] as const) {
    proxy.inject({ kind: 'status', status, code }, /^(PUT|POST)/);
    for (const length of [SMALL, LARGE]) {
      const put = store.put(inChunks(newBody(length)));
      t.regex((await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable })).message, /it is full/);
    }
    t.is(await listReadiness(store), null, `${code}: it lists all that it has`);
  }
});

for (const request of [
  'PUT .*/v1/',
  'PUT .*partNumber=1',
  'POST .*uploads',
  'POST .*uploadId',
  'HEAD .*/v1/',
]) {
  test.serial(`a store that is silent at ${request} does not block a put`, async (t) => {
    const { store, proxy } = await openBehindProxy(t, { timeouts: { ...QUICK, total: 4000 } });
    proxy.inject({ kind: 'silent' }, new RegExp(`^${request}`));
    const body = newBody(request === 'PUT .*/v1/' ? SMALL : LARGE);
    const error = await t.throwsAsync(store.put(inChunks(body)), { instanceOf: ObjectStoreUnavailable });
    t.regex(error.message, /did not (answer|finish) within/);
  });
}

test.serial('a silent store does not block anything else', async (t) => {
  const { store, proxy, server } = await openBehindProxy(t, { timeouts: QUICK });
  const { store: patient } = await openIn(t, { server });
  const { sha256 } = await patient.put(inChunks(newBody(LARGE)));
  proxy.inject({ kind: 'silent' });
  for (const work of [
    () => store.get(sha256),
    () => store.stat(sha256),
    () => store.ready(),
    () => store.remove(sha256),
    () => listOf(store),
  ]) {
    await t.throwsAsync(work, { instanceOf: ObjectStoreUnavailable, message: /within 2000 ms/ });
  }
  proxy.inject({ kind: 'stall', afterBytes: MB }, /^GET/);
  await t.throwsAsync(bytesOf(store, sha256), {
    instanceOf: ObjectStoreUnavailable,
    message: /nothing for 2000 ms/,
  });
});

test.serial('a store that sends its response one byte at a time does not block anything', async (t) => {
  const { store, proxy, server } = await openBehindProxy(t, { timeouts: { ...QUICK, total: 1000 } });
  const { store: patient } = await openIn(t, { server });
  const { sha256 } = await patient.put(inChunks(newBody(SMALL)));
  proxy.inject({ kind: 'drip', every: 100 }, /^GET .*v1\//);
  const slow = await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectStoreUnavailable });
  t.regex(slow.message, /sent only \d+ bytes in \d+ ms/);
  proxy.inject({ kind: 'drip', every: 100 });
  const error = await t.throwsAsync(listOf(store), { instanceOf: ObjectStoreUnavailable });
  t.regex(error.message, /did not finish within 1000 ms/);
});

test.serial('a reader may pause for longer than the timeout of the store', async (t) => {
  const { store: patient, server } = await openIn(t);
  const { store } = await openIn(t, { server, timeouts: QUICK });
  const body = newBody(LARGE);
  const { sha256 } = await patient.put(inChunks(body));
  const read: Buffer[] = [];
  for await (const chunk of (await store.get(sha256)).body) {
    if (read.length === 10) await pause(4000);
    read.push(chunk as Buffer);
  }
  t.true(body.equals(Buffer.concat(read)));
});

test('a web page is not accepted as a response', async (t) => {
  const { store, server, proxy } = await openBehindProxy(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  for (const request of [/./, /uploads/, /partNumber/, /^POST .*uploadId/, /^PUT .*v1\//, /^HEAD/, /^GET/]) {
    proxy.inject({ kind: 'html' }, request);
    const use = async () => {
      await store.put(inChunks(newBody(LARGE)));
      await bytesOf(store, sha256);
    };
    await t.throwsAsync(
      use,
      { instanceOf: ObjectStoreUnavailable, message: /not that of an S3 store/ },
      `${request}`,
    );
  }
  proxy.inject({ kind: 'html' });
  for (const work of [
    () => store.remove(sha256),
    () => store.ready(),
    () => listOf(store),
    () => store.stat(sha256),
  ]) {
    await t.throwsAsync(work, { instanceOf: ObjectStoreUnavailable });
  }
  t.true(keysOf(server).includes(keyOf(sha256)));
});

test('a list that is longer than any of an S3 store is not read to its end', async (t) => {
  const { store, proxy } = await openBehindProxy(t);
  const blank = ' '.repeat(17 * 1024 ** 2);
  const xml = `<ListBucketResult>${blank}<IsTruncated>false</IsTruncated></ListBucketResult>`;
  proxy.inject({ kind: 'xml', xml }, /list-type/);
  await t.throwsAsync(listOf(store), {
    instanceOf: ObjectStoreUnavailable,
    message: /not that of an S3 store/,
  });
  proxy.inject({ kind: 'xml', xml: xml.replace(blank, blank.slice(2 * 1024 ** 2)) }, /list-type/);
  t.deepEqual(await listOf(store), []);
});

test('an ETag that does not match the bytes is reported', async (t) => {
  const { store, proxy } = await openBehindProxy(t, { server: await serverIn(t, { ignoresDigests: true }) });
  for (const [request, length] of [
    [/^PUT .*v1\//, SMALL],
    [/partNumber=2/, LARGE],
    [/^HEAD .*v1\//, SMALL],
  ] as const) {
    proxy.inject({ kind: 'wrong-etag' }, request);
    const put = store.put(inChunks(newBody(length)));
    await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message: /0{32}/ });
  }
});

for (const length of [SMALL, LARGE]) {
  test(`truncated responses of ${length} bytes are reported, however they end`, async (t) => {
    const { store, proxy } = await openBehindProxy(t);
    const { sha256 } = await store.put(inChunks(newBody(length)));
    proxy.inject({ kind: 'lost' }, /^GET/);
    await t.throwsAsync(bytesOf(store, sha256), { instanceOf: ObjectUnreadable });
    await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectUnreadable });
    proxy.inject({ kind: 'shorten', bytes: length / 2 }, /^GET/);
    await t.throwsAsync(bytesOf(store, sha256), { instanceOf: ObjectCorrupt });
    await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectCorrupt });
  });

  test(`a corrupt object of ${length} bytes is reported, and replaced when it is put again`, async (t) => {
    const { store, server, bucket, folder } = await openIn(t);
    const body = newBody(length);
    const { sha256 } = await store.put(inChunks(body));
    for (const change of [
      flipped,
      (bytes: Buffer) => bytes.subarray(1),
      (bytes: Buffer) => Buffer.concat([bytes, bytes]),
    ]) {
      await server.damage(bucket(), keyOf(sha256), change);
      await t.throwsAsync(bytesOf(store, sha256), { instanceOf: ObjectCorrupt });
      await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectCorrupt });
      await store.put(inChunks(body));
      t.true(body.equals(await bytesOf(store, sha256)));
    }
    t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
  });
}

test('an object is not reported as missing because its bucket is', async (t) => {
  const { store, server } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  server.buckets.clear();
  for (const work of [() => store.stat(sha256), () => store.get(sha256), () => store.remove(sha256)]) {
    await t.throwsAsync(work, { instanceOf: ObjectStoreUnavailable, message: /the bucket does not exist/ });
  }
});

test('objects not named by this store are not listed', async (t) => {
  const { store, bucket } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  const { body } = bucket().get(keyOf(sha256));
  for (const key of [`v1/sha256/${sha256}`, `v1/sha256/00/00/${sha256}`, 'v1/sha256/ab/cd/notes.txt']) {
    bucket().put(key, { ...body, file: `${body.file}-` });
  }
  t.deepEqual(
    (await listOf(store)).map((listed) => listed.sha256),
    [sha256],
  );
});

test.serial('an object stored within the same second as the removal limit remains', async (t) => {
  const { store } = await openIn(t);
  await new Promise((resolve) => setTimeout(resolve, 1100 - (Date.now() % 1000))); // early in a second
  const storedBefore = new Date();
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  await store.remove(sha256, { storedBefore });
  t.not(await store.stat(sha256), undefined);
});

test.serial('a closed store finishes its puts and accepts no more', async (t) => {
  const { store, server } = await openIn(t);
  const body = newBody(SMALL);
  const put = store.put(inChunks(body));
  await store[Symbol.asyncDispose]();
  t.is((await put).sha256, sha256Of(body));
  t.deepEqual(keysOf(server), [keyOf(sha256Of(body))]);
  await t.throwsAsync(store.put(inChunks(body)), { instanceOf: ObjectStoreUnavailable });
});

for (const [request, length] of [
  ['PUT .*/v1/', SMALL],
  ['PUT .*partNumber=2', LARGE],
  ['POST .*uploadId', LARGE],
  ['PUT .*/v1/', LARGE],
] as const) {
  test(`a store that is silent at ${request} of ${length} bytes can still be closed soon`, async (t) => {
    const { store, proxy, folder } = await openBehindProxy(t);
    const firstRequest = () => proxy.requests.findIndex((one) => new RegExp(request).test(one));
    proxy.inject({ kind: 'silent' }, new RegExp(`^${request}`));
    const put = t.throwsAsync(store.put(inChunks(newBody(length))), { instanceOf: ObjectStoreUnavailable });
    while (firstRequest() < 0) await pause(5);
    const asked = firstRequest();
    proxy.inject({ kind: 'silent' });
    const begun = Date.now();
    await store[Symbol.asyncDispose]();
    t.true(Date.now() - begun < 25_000, 'with a request timeout of 60 or 300 s');
    await put;
    t.deepEqual(proxy.requests.slice(asked + 1), [], 'and no removal is requested');
    t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
  });
}

test.serial('two hundred megabytes are put in little memory', async (t) => {
  const { port, accessKey, secretKey } = await serverProcess(t);
  const place = {
    ...placeAt({ options: { accessKey, secretKey } }, port),
    temporaryFolder: await temporaryFolder(t),
  };
  await using store = await S3ObjectStore.open(place);
  const held = heldBytes();
  const resident = process.memoryUsage.rss();
  let mostHeld = 0;
  let mostResident = 0;
  async function* source() {
    for (let chunk = 1; chunk <= 3200; chunk += 1) {
      if (chunk % 800 === 0) mostHeld = Math.max(mostHeld, heldBytes() - held);
      if (chunk % 16 === 0) mostResident = Math.max(mostResident, process.memoryUsage.rss() - resident);
      yield Buffer.alloc(64 * 1024, chunk);
    }
  }
  t.is((await store.put(source())).length, 3200 * 64 * 1024);
  t.true(mostHeld < 12 * MB, `${mostHeld} bytes were buffered`);
  t.true(mostResident < 150 * MB, `${mostResident} bytes were resident`);
});

test('a service with its archives in a folder does not load minio', async (t) => {
  const loaded = async (file: string) => {
    const program = `
      import { registerHooks } from 'node:module';
      let loaded = false;
      registerHooks({ load(url, context, next) { loaded ||= url.includes('/node_modules/minio/'); return next(url, context); } });
      await import(${JSON.stringify(path.join(import.meta.dirname, '../../src', file))});
      console.log(loaded);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    return JSON.parse(stdout) as boolean;
  };
  t.false(await loaded('service/service.ts'));
  t.true(await loaded('object-store/s3/s3-object-store.ts'));
});

test('the test server checks signatures as documented by AWS', (t) => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': sha256Of(Buffer.of()),
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  };
  const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const now = new Date('2013-05-24T00:01:00Z');
  const request = { method: 'GET', url: '/test.txt', headers };
  t.is(signatureFault(request, { ...keys, now }), undefined);
  t.is(signatureFault({ ...request, url: '/test.txt?acl' }, { ...keys, now }), 'SignatureDoesNotMatch');
  t.is(signatureFault(request, { ...keys, now: new Date() }), 'RequestTimeTooSkewed');
});

async function openShared(t: ExecutionContext) {
  const server = await shared;
  return openBelow(t, placeAt(server, server.port));
}

async function refusedAt(t: ExecutionContext, opening: Opening): Promise<ObjectStoreUnavailable> {
  return t.throwsAsync(openIn(t, opening), { instanceOf: ObjectStoreUnavailable });
}

function flipped(bytes: Buffer): Buffer {
  const middle = Math.floor(bytes.length / 2);
  return Buffer.from(bytes).fill(~(bytes[middle] ?? 0) & 0xff, middle, middle + 1);
}

/** Returns all text that a logger could find in an error. */
function everythingIn(error: Error): string {
  const own = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
  const cause = error.cause instanceof Error ? everythingIn(error.cause) : JSON.stringify(error.cause);
  return [...own, JSON.stringify(error), cause].join('\n');
}

function later(): Date {
  return new Date(Date.now() + 60_000);
}
