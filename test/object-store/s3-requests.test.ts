import test, { type ExecutionContext } from 'ava';
import { ObjectMissing } from '../../src/object-store/object-store.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import {
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  helloEntry,
} from '../../testing/http/deposit-bodies.ts';
import type { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { bytesOf, inChunks, newBody, sha256Of } from './bodies.ts';
import { keyOf, openAnywhere, openBehindProxy, openIn, PATIENT, serverIn } from './s3-under-test.ts';

const SMALL = 1000;
const LARGE = 20_000_000;

/** Opens a store as a service does, behind a proxy that counts its requests. */
async function opened(t: ExecutionContext, options: { readonly recentBytes?: number } = {}) {
  const { proxy, place, direct, ...others } = await openAnywhere(t);
  const folder = await temporaryFolder(t);
  const store = await S3ObjectStore.open({
    ...place,
    ...options,
    timeouts: PATIENT,
    temporaryFolder: folder,
  });
  t.teardown(() => store[Symbol.asyncDispose]());
  await store.put(inChunks(newBody(1))); // the first put tests the store
  return { ...others, store, place, direct, requests: () => requestsOf(proxy) };
}

/** Returns the requests since the last call, without keys. */
function requestsOf(proxy: FaultProxy): string[] {
  const requests = proxy.requests.splice(0);
  return requests.map((request) => request.replace(/^(\S+) [^?]*/, '$1').replace(/=[^&]*/g, ''));
}

test('an object of one part costs one request to put, and one to read', async (t) => {
  const { store, requests } = await opened(t);
  for (const length of [SMALL, LARGE]) {
    const body = newBody(length);
    requests();
    const { sha256 } = await store.put(inChunks(body));
    t.deepEqual(requests(), ['PUT']);
    t.true(body.equals(await bytesOf(store, sha256)));
    t.deepEqual(requests(), ['GET']);
    await using _local = await store.materialize(sha256);
    t.deepEqual(requests(), ['GET']);
  }
});

test('a larger object is sent in parts and copied to its name', async (t) => {
  const { store, requests } = await opened(t);
  const body = newBody(2 * LARGE);
  requests();
  const { sha256 } = await store.put(inChunks(body));
  t.deepEqual(requests().toSorted(), [
    'DELETE',
    'HEAD',
    'POST?uploadId',
    'POST?uploads',
    'PUT',
    'PUT',
    'PUT?partNumber&uploadId',
    'PUT?partNumber&uploadId',
  ]);
  t.true(body.equals(await bytesOf(store, sha256)));
});

test('a small deposit costs four requests on a node that accepts, checks and loads it', async (t) => {
  const { place, requests } = await opened(t);
  await using service = await RunningService.start({
    archiveStore: { kind: 's3', ...place, prefix: 'service/' },
  });
  const alice = await service.register('alice', { collections: ['software'] });
  const deposit = async (id: number) => {
    const entry = entryPart(helloEntry.replace('<title>', `<title>${id} `));
    const archive = archivePart(zipOf([{ name: 'hello.py', data: `print(${id})` }]));
    const form = formOf([archive, entry]);
    t.is((await alice.post('/1/software/', form, { ...formType, ...final })).status, 201);
    await alice.waitFor(`/1/software/${id}/status/`, 'done');
  };
  await deposit(1);
  requests();
  await deposit(2);
  t.deepEqual(requests(), ['PUT', 'PUT', 'PUT', 'PUT']);
});

test('with a store that ignores digests each put object is verified by a request', async (t) => {
  const server = await serverIn(t, { ignoresDigests: true });
  const { store, proxy, bucket } = await openBehindProxy(t, { server });
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  t.deepEqual([...bucket().objects.keys()], [keyOf(sha256)], 'the test left nothing');
  requestsOf(proxy);
  await store.put(inChunks(newBody(SMALL)));
  t.deepEqual(requestsOf(proxy), ['PUT', 'HEAD']);
});

test('a store that could not be probed is asked for an object, and probed again', async (t) => {
  const { store, proxy } = await openBehindProxy(t);
  proxy.inject({ kind: 'status', status: 403, code: 'AccessDenied' }, /^PUT .*incoming\//);
  await store.put(inChunks(newBody(SMALL)));
  t.true(requestsOf(proxy).includes('HEAD'));
  proxy.heal();
  await store.put(inChunks(newBody(SMALL)));
  requestsOf(proxy);
  await store.put(inChunks(newBody(SMALL)));
  t.deepEqual(requestsOf(proxy), ['PUT']);
});

test('without a region each client of a store asks it once for that of the bucket', async (t) => {
  const server = await serverIn(t, { region: 'eu-1' });
  await openIn(t, { server, wrong: { region: 'eu-1' } });
  const { store, proxy } = await openBehindProxy(t, { server, wrong: { region: '' } });
  const asked = () => proxy.requests.filter((request) => request.includes('location')).length;
  t.is(asked(), 1, 'that of the start');
  for (const _put of [1, 2]) {
    await store.put(inChunks(newBody(SMALL)));
    await store.ready();
    t.is(asked(), 3, 'those of requests and of probes');
  }
});

test('a small object is read from memory once after its put, then from the store', async (t) => {
  const { store, direct, requests } = await opened(t, { recentBytes: 200_000 });
  const [small, large] = [newBody(SMALL), newBody(100_000)];
  for (const read of [
    () => bytesOf(store, sha256Of(small)),
    async () => {
      await using local = await store.materialize(sha256Of(small));
      return local.source.kind === 'bytes' ? local.source.bytes : Buffer.of();
    },
  ]) {
    await store.put(inChunks(small, 10));
    requests();
    t.true(small.equals(await read()));
    t.deepEqual(requests(), []);
    t.true(small.equals(await read()));
    t.deepEqual(requests(), ['GET']);
  }
  await store.put(inChunks(large));
  requests();
  t.true(large.equals(await bytesOf(store, sha256Of(large))));
  t.deepEqual(requests(), ['GET'], 'it is not small');
  await store.put(inChunks(small));
  await store.remove(sha256Of(small));
  await t.throwsAsync(store.get(sha256Of(small)), { instanceOf: ObjectMissing });
  await direct.put(inChunks(small));
  t.true(small.equals(await bytesOf(store, sha256Of(small))));
});

test('a body that is destroyed before it is read ends its request', async (t) => {
  const { store, proxy } = await openBehindProxy(t);
  const { sha256 } = await store.put(inChunks(newBody(LARGE)));
  for (const from of [0, 1]) {
    const { body } = await store.get(sha256, from);
    t.is(proxy.open, 1);
    body.destroy();
    await until(async () => proxy.open === 0);
  }
});
