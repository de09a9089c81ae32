import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { listReadiness } from '../../src/object-store/list-readiness.ts';
import {
  ObjectMissing,
  ObjectStoreUnavailable,
  ObjectUnreadable,
} from '../../src/object-store/object-store.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { bytesOf, inChunks, listOf, newBody, sha256Of } from './bodies.ts';
import { CAN_FLIP, keyOf, openAnywhere, openIn, PATIENT } from './s3-under-test.ts';

const MB = 1_000_000;
const SMALL = 1000;
/** Size of two parts. */
const LARGE = 9 * MB;
const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

test('an object put while the response to its removal is lost remains', async (t) => {
  const { store, direct, proxy } = await openAnywhere(t);
  const body = newBody(SMALL);
  const { sha256 } = await direct.put(inChunks(body));
  await pause(2100); // HEAD has a resolution of seconds
  const storedBefore = new Date();
  proxy.inject({ kind: 'lost', event: () => direct.put(inChunks(body)) }, /^DELETE/, 1);
  await store.remove(sha256, { storedBefore });
  t.true(body.equals(await bytesOf(direct, sha256)));
});

test('an object is removed although the response to its removal is lost', async (t) => {
  const { store, direct, proxy, keys } = await openAnywhere(t);
  const { sha256 } = await direct.put(inChunks(newBody(SMALL)));
  proxy.inject({ kind: 'lost' }, /^DELETE/, 1);
  await store.remove(sha256);
  proxy.inject({ kind: 'status', status: 503, code: 'SlowDownWrite' }, /^DELETE/, 1);
  await direct.put(inChunks(newBody(SMALL)));
  const [other] = await listOf(direct);
  await store.remove(other?.sha256 ?? '');
  t.deepEqual(await keys(), []);
});

test('in a bucket with versions an object put just before its removal remains', async (t) => {
  const { store, direct, proxy, send } = await openAnywhere(t);
  await send('', { method: 'PUT', query: 'versioning=', body: VERSIONING });
  const body = newBody(SMALL);
  const { sha256 } = await direct.put(inChunks(body));
  await direct.put(inChunks(body));
  await pause(2100);
  const storedBefore = new Date();
  proxy.inject({ kind: 'after', event: () => direct.put(inChunks(body)) }, /^DELETE/, 1);
  await store.remove(sha256, { storedBefore });
  t.true(body.equals(await bytesOf(direct, sha256)));
  await store.remove(sha256, { storedBefore: new Date(Date.now() + 60_000) });
  t.is(await store.stat(sha256), undefined, 'all its versions are removed');
});

for (const [code, status] of [
  ['InvalidRequest', 400],
  ['AccessDenied', 403],
] as const) {
  test(`an object whose version is retained stays, without a delete marker (${code})`, async (t) => {
    const { store, direct, proxy, send } = await openAnywhere(t);
    await send('', { method: 'PUT', query: 'versioning=', body: VERSIONING });
    const body = newBody(SMALL);
    const { sha256 } = await direct.put(inChunks(body));
    proxy.inject({ kind: 'status', status, code }, /^DELETE .*versionId/);
    await t.throwsAsync(store.remove(sha256), {
      instanceOf: ObjectStoreUnavailable,
      message: /must retain this version, .* \(Retained\)/,
    });
    t.true(body.equals(await bytesOf(direct, sha256)));
    t.is(proxy.requests.filter((request) => request.startsWith('DELETE')).length, 1);
    proxy.heal();
    await store.remove(sha256);
    t.is(await store.stat(sha256), undefined, 'it is removed when the retention is over');
  });
}

test('removals that a busy store refuses are repeated after pauses', async (t) => {
  const { store, direct, proxy, keys } = await openAnywhere(t);
  const { sha256 } = await direct.put(inChunks(newBody(SMALL)));
  proxy.inject({ kind: 'status', status: 503, code: 'SlowDown' }, /^DELETE/);
  const begun = performance.now();
  await t.throwsAsync(store.remove(sha256), { instanceOf: ObjectStoreUnavailable });
  t.true(performance.now() - begun >= 500);
  t.is(proxy.requests.filter((request) => request.startsWith('DELETE')).length, 3);
  proxy.heal();
  await store.remove(sha256);
  t.deepEqual(await keys(), []);
});

test('an answer with another part of an object than the requested one is refused', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const { sha256 } = await store.put(inChunks(newBody(LARGE)));
  proxy.inject({ kind: 'wrong-range' }, /^GET .*v1\//);
  await t.throwsAsync(store.get(sha256, 5), { message: /does not send the rest/ });
});

test('an upload whose completion succeeded without a response is an object', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t);
  const body = newBody(LARGE);
  proxy.inject({ kind: 'lost' }, /^POST .*uploadId/);
  const { sha256 } = await store.put(inChunks(body));
  t.true(body.equals(await bytesOf(store, sha256)));
  t.deepEqual(await keys(), [keyOf(sha256)]);
});

test('a completion refused by a busy store is retried', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t);
  proxy.inject({ kind: 'status', status: 503, code: 'SlowDownWrite' }, /^POST .*uploadId/, 2);
  const { sha256 } = await store.put(inChunks(newBody(LARGE)));
  t.deepEqual(await keys(), [keyOf(sha256)]);
});

test.serial(
  'the timeout of a copy is longer than that of other requests and depends on its length',
  async (t) => {
    const { store, proxy } = await openAnywhere(t, { timeouts: { ...PATIENT, idle: 10_000, total: 12_000 } });
    proxy.inject({ kind: 'slow', delay: 14_000 }, /^PUT .*v1\//);
    t.is((await store.put(inChunks(newBody(30 * MB)))).length, 30 * MB);
  },
);

test.serial('a copy without a response is abandoned after a time that depends on its length', async (t) => {
  const { store, proxy } = await openAnywhere(t, { timeouts: { ...PATIENT, idle: 6000, total: 60_000 } });
  proxy.inject({ kind: 'silent' }, /^PUT .*v1\//);
  const put = store.put(inChunks(newBody(LARGE)));
  const message = /did not (answer|finish) within 10500 ms/;
  await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message });
});

for (const [status, code, message] of [
  [400, 'XMinioAdminBucketQuotaExceeded', /it is full: its quota for the bucket is/],
  [403, 'AccessDenied', /the keys lack a right, or \(MinIO\) its drive is read-only/],
  [404, 'NoSuchUpload', /it no longer has the upload in parts/],
  [429, 'TooManyRequests', /it has too many requests/],
  [500, 'InternalError', /it failed; its own log says why/],
  [503, 'SlowDownWrite', /it cannot write: too few of its drives answer/],
  [503, 'XMinioServerNotInitialized', /it is starting, or too few of its drives answer/],
] as const) {
  test(`a store that refuses a write with ${code} is quoted in the error message`, async (t) => {
    const { store, proxy } = await openAnywhere(t);
    proxy.inject({ kind: 'status', status, code }, /^PUT .*partNumber/);
    const put = store.put(inChunks(newBody(LARGE)));
    const error = await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message });
    t.true(error.message.includes(`(${code})`));
  });
}

test('the reason for a refused HEAD is read from its headers', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  for (const [status, code, message] of [
    [503, 'SlowDownRead', /it cannot read the object: .* too few of its drives answer/],
    [404, 'NoSuchBucket', /the bucket does not exist \(NoSuchBucket\)/],
    [400, 'XMinioInvalidObjectName', /it answered XMinioInvalidObjectName/],
    [400, 'constructor', /it answered constructor/],
  ] as const) {
    proxy.inject({ kind: 'status', status, code }, /^HEAD/);
    const stat = () => store.stat(sha256Of(newBody(1)));
    await t.throwsAsync(stat, { instanceOf: ObjectStoreUnavailable, message });
  }
});

test('the list of a bucket that is not ready may be incomplete, also while the temporary disk is full', async (t) => {
  const { store, server } = await openIn(t);
  server.state = 'few-drives-to-write';
  const open = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
  const reason = await runInWorld({ files: { ...FILES_OF_NODE, open } }, () => listReadiness(store));
  t.regex(reason ?? '', /too few of its drives answer/);
});

test('a store on a read-only drive is not reported as wrong credentials', async (t) => {
  const { store, server } = await openIn(t);
  server.state = 'read-only';
  const put = store.put(inChunks(newBody(SMALL)));
  await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message: /its drive is read-only/ });
});

test('an object that is not found but listed is not missing: the store is unavailable', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  const message = /its list names the object but it does not find it/;
  for (const request of [/^(HEAD|GET) .*v1\/sha256\/[^?]*$/, /^GET .*v1\/sha256\/[^?]*$/]) {
    proxy.inject({ kind: 'status', status: 404, code: 'NoSuchKey' }, request);
    const read = async () => bytesOf(store, sha256);
    await t.throwsAsync(read, { instanceOf: ObjectStoreUnavailable, message });
    if (request.test('HEAD /archives/v1/sha256/'))
      await t.throwsAsync(store.stat(sha256), { instanceOf: ObjectStoreUnavailable, message });
  }
});

test('an object put between a HEAD and the following list is found', async (t) => {
  const { store, direct, proxy } = await openAnywhere(t);
  const body = newBody(SMALL);
  proxy.inject({ kind: 'after', event: () => direct.put(inChunks(body)) }, /^GET .*list-type/, 1);
  t.deepEqual(await store.stat(sha256Of(body)), { length: SMALL });
});

test('an object put while a drive was missing is unavailable until the drives are back', async (t) => {
  const { store, bucket } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  bucket().unfound.add(keyOf(sha256));
  await t.throwsAsync(store.stat(sha256), { instanceOf: ObjectStoreUnavailable });
  await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectStoreUnavailable });
  bucket().unfound.clear();
  t.deepEqual(await store.stat(sha256), { length: SMALL });
});

test('longer keys with the key of an object as prefix do not make it listed', async (t) => {
  const { store, send } = await openAnywhere(t);
  const sha256 = sha256Of(newBody(1));
  await send(`${keyOf(sha256)}0`, { method: 'PUT', body: 'other' });
  t.is(await store.stat(sha256), undefined);
  await t.throwsAsync(store.get(sha256), { instanceOf: ObjectMissing });
});

(CAN_FLIP ? test : test.skip)('a corrupt object is unreadable, while others are read', async (t) => {
  const { store, flip } = await openAnywhere(t);
  for (const length of [SMALL, LARGE]) {
    const [body, other] = [newBody(length), newBody(length)];
    const { sha256 } = await store.put(inChunks(body));
    await store.put(inChunks(other));
    await flip(keyOf(sha256));
    const expected = { instanceOf: ObjectUnreadable, message: /probably corrupt/ };
    await t.throwsAsync(bytesOf(store, sha256), expected);
    await t.throwsAsync(store.materialize(sha256), expected);
    t.true(other.equals(await bytesOf(store, sha256Of(other))));
    await store.put(inChunks(body));
    t.true(body.equals(await bytesOf(store, sha256)), 'putting it again repairs it');
  }
});

test('an object of a store with too few drives is not reported as corrupt', async (t) => {
  const { store, server } = await openIn(t);
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  for (const state of ['few-drives-to-read', 'no-format'] as const) {
    server.state = state;
    for (const read of [() => store.materialize(sha256), () => store.get(sha256)])
      await t.throwsAsync(read, { instanceOf: ObjectStoreUnavailable });
  }
});

test('a read whose connection fails resumes at its offset', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const body = newBody(LARGE);
  const { sha256 } = await store.put(inChunks(body));
  proxy.inject({ kind: 'truncate', bytes: 2 * MB }, /^GET .*v1\//, 2);
  const before = proxy.requests.length;
  t.true(body.equals(await bytesOf(store, sha256)));
  t.is(proxy.requests.slice(before).filter((request) => request.startsWith('GET')).length, 3);
});

test('a sweep lists the uploads of a key again if there seem to be none', async (t) => {
  const { store, direct, proxy, send, keys } = await openAnywhere(t);
  const [first, second] = [randomUUID(), randomUUID()];
  for (const key of [`incoming/${first}`, `incoming/${second}`]) {
    await send(key, { method: 'PUT' });
    await send(key, { method: 'POST', query: 'uploads=' });
  }
  t.is((await keys()).length, 4);
  const xml = '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>';
  proxy.inject({ kind: 'xml', xml }, new RegExp(`^GET .*uploads.*${first}|^GET .*${first}.*uploads`), 2);
  await store.sweepIncoming(new Date(Date.now() + 60_000));
  t.deepEqual(await keys(), []);
  const { body } = await send('', { query: `prefix=incoming%2F${first}&uploads=` });
  t.false(body.toString().includes('<UploadId>'));
  t.deepEqual(await listOf(direct), []);
});

test('a sweep leaves objects below incoming/ that another application stored there', async (t) => {
  const { store, place, send, keys } = await openAnywhere(t);
  const ours = `incoming/${randomUUID()}`;
  const below = `incoming/incoming/${randomUUID()}`;
  const theirs = [
    'incoming/2025-invoices.pdf',
    below,
    `${ours}.pdf`,
    `incoming/${randomUUID()}/1`,
    'incoming/store-id',
  ];
  for (const key of [ours, ...theirs]) await send(key, { method: 'PUT' });
  await send(below, { method: 'POST', query: 'uploads=' });
  await using other = await S3ObjectStore.open({
    ...place,
    prefix: 'incoming/',
    temporaryFolder: await temporaryFolder(t),
  });
  const { sha256 } = await other.put(inChunks(newBody(SMALL)));
  const before = await keys();
  t.is(await store.sweepIncoming(new Date(Date.now() + 60_000)), 1);
  t.deepEqual(
    new Set(await keys()),
    new Set(before.filter((key) => key !== ours)),
    'an upload to their key remains as well',
  );
  t.is((await other.stat(sha256))?.length, SMALL);
});

test('bytes corrupted in transit are sent once more', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const damaged = { kind: 'status', status: 400, code: 'BadDigest' } as const;
  for (const [length, request] of [
    [SMALL, /^PUT .*v1\//],
    [LARGE, /^PUT .*partNumber=2/],
  ] as const) {
    const body = newBody(length);
    proxy.inject(damaged, request, 1);
    const { sha256 } = await store.put(inChunks(body));
    t.true(body.equals(await bytesOf(store, sha256)));
    proxy.inject(damaged, request);
    const put = store.put(inChunks(newBody(length)));
    await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message: /corrupted in transit/ });
    proxy.heal();
  }
});

test('leftovers of an outage below incoming/ are removed when the store is back, without a sweep', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t, { timeouts: { ...PATIENT, restart: 0 } });
  async function* source() {
    yield* inChunks(newBody(LARGE));
    await proxy.refuse();
    yield* inChunks(newBody(LARGE));
  }
  await t.throwsAsync(store.put(source()), { instanceOf: ObjectStoreUnavailable });
  t.is((await keys()).length, 2, 'a key and its upload');
  await proxy.accept();
  await until(async () => (await keys()).length === 0);
  t.deepEqual(await keys(), []);
});

test('a probe object that could not be removed is removed later', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t);
  proxy.inject({ kind: 'status', status: 500, code: 'InternalError' }, /^DELETE/, 8);
  await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable });
  t.is((await keys()).length, 1);
  await until(async () => (await keys()).length === 0);
  t.deepEqual(await keys(), []);
});

test('probes that fail leave one key at most, and few requests', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t, { timeouts: { ...PATIENT, restart: 0 } });
  proxy.inject({ kind: 'status', status: 403, code: 'AccessDenied' }, /^DELETE/);
  for (let times = 0; times < 5; times += 1)
    await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable });
  t.is((await keys()).length, 1);
  proxy.heal();
  const before = proxy.requests.length;
  await until(async () => (await keys()).length === 0);
  await pause(200);
  t.is(proxy.requests.slice(before).filter((request) => request.startsWith('DELETE')).length, 1);
});

test('in a bucket with versions each probe has a new key', async (t) => {
  const { store, proxy, send, keys } = await openAnywhere(t, { timeouts: { ...PATIENT, restart: 0 } });
  await send('', { method: 'PUT', query: 'versioning=', body: VERSIONING });
  for (let times = 0; times < 3; times += 1) await store.ready();
  proxy.inject({ kind: 'status', status: 403, code: 'AccessDenied' }, /^PUT/);
  for (let times = 0; times < 3; times += 1)
    await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable });
  const removed = proxy.requests.filter((request) => request.startsWith('DELETE'));
  t.is(removed.length, 6);
  t.is(new Set(removed).size, 6, 'also while the store accepts no writes');
  t.deepEqual(await keys(), []);
});

test('a key whose upload may have started without a response is removed with it', async (t) => {
  const { store, proxy, keys } = await openAnywhere(t);
  proxy.inject({ kind: 'lost' }, /^POST .*uploads/);
  await t.throwsAsync(store.put(inChunks(newBody(LARGE))), { instanceOf: ObjectStoreUnavailable });
  t.deepEqual(await keys(), []);
});

test('requests that a stopping store aborts with 499 are retried', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const body = newBody(SMALL);
  proxy.inject({ kind: 'status', status: 499, code: 'ClientDisconnected' }, /^(PUT|HEAD|GET)/, 2);
  const { sha256 } = await store.put(inChunks(body));
  proxy.inject({ kind: 'status', status: 499, code: 'ClientDisconnected' }, /^GET/, 2);
  t.true(body.equals(await bytesOf(store, sha256)));
});

test('a restart of the store is awaited: puts, reads and lists continue', async (t) => {
  const { store, proxy } = await openAnywhere(t);
  const bodies = [SMALL, LARGE].map((length) => newBody(length));
  async function* source(body: Buffer) {
    yield* inChunks(body);
    await restart();
  }
  const restart = async () => {
    await proxy.refuse();
    void pause(1500).then(() => proxy.accept());
  };
  for (const body of bodies) t.is((await store.put(source(body))).sha256, sha256Of(body));
  for (const body of bodies) {
    await restart();
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
  }
  await restart();
  t.is((await listOf(store)).length, 2);
  const { body: read } = await store.get(sha256Of(bodies[1] as Buffer));
  const came: Buffer[] = [];
  for await (const chunk of read) {
    came.push(chunk as Buffer);
    if (came.length === 1) await restart();
  }
  t.true(Buffer.concat(came).equals(bodies[1] as Buffer), 'a read resumes at its offset');
});

test('a store that stays away is reported when the time for a restart is over', async (t) => {
  const { store, proxy } = await openAnywhere(t, { timeouts: { ...PATIENT, restart: 1000 } });
  await proxy.refuse();
  const begun = performance.now();
  const put = store.put(inChunks(newBody(SMALL)));
  await t.throwsAsync(put, { instanceOf: ObjectStoreUnavailable, message: /ECONNREFUSED/ });
  t.true(performance.now() - begun > 1000);
});

test('a readiness check does not wait for a restart', async (t) => {
  const { store, proxy } = await openAnywhere(t, { timeouts: { ...PATIENT, restart: 3_600_000 } });
  await proxy.refuse();
  await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable, message: /ECONNREFUSED/ });
});
