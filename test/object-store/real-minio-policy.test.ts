import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { MinioBucket } from '../../src/object-store/s3/bucket.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { addUser } from '../../testing/s3/minio-users.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { breakingAfter, inChunks, listOf, newBody } from './bodies.ts';
import { realPlace } from './s3-under-test.ts';

const { S3_URL } = process.env;
if (S3_URL === undefined)
  throw new Error('Set S3_URL=http://key:secret@host:port/bucket, or run test/on-minio.ts.');
const root = realPlace(S3_URL);

const LARGE = 9_000_000;
const page = await readFile(new URL('../../docs/engines.md', import.meta.url), 'utf8');
const [whole = '', shared = ''] = [...page.matchAll(/^```json\n(\{[^`]+"arn:aws:s3:[^`]+)^```$/gm)].map(
  ([, json]) => json,
);

/**
 * Creates a bucket, and a user with a policy of the page, in which `deposits` is that bucket; resolves to the user's
 * keys.
 */
async function placeWith(policy: string, prefix = '') {
  const bucket = `deposits-${randomUUID()}`;
  using made = new MinioBucket({ ...root, bucket });
  await made.make();
  const keys = { accessKey: randomUUID().slice(0, 20), secretKey: randomUUID() };
  await addUser(root, { ...keys, policy: policy.replaceAll(':::deposits', `:::${bucket}`) });
  return { ...root, ...keys, bucket, prefix };
}

async function opened(t: ExecutionContext, place: Awaited<ReturnType<typeof placeWith>>) {
  const store = await S3ObjectStore.open({ ...place, temporaryFolder: await temporaryFolder(t) });
  t.teardown(() => store[Symbol.asyncDispose]());
  return store;
}

for (const [what, policy, prefix] of [
  ['a bucket of its own', whole, ''],
  ['a part of a bucket', shared, 'team/'],
] as const) {
  test(`the documented policy for ${what} is sufficient for a service and gc`, async (t) => {
    const place = await placeWith(policy, prefix);
    await using service = await RunningService.start({ archiveStore: { kind: 's3', ...place } });
    const alice = await service.register('alice', { collections: ['software'] });
    t.is((await alice.post('/1/software/', helloForm, formType)).status, 201);
    await alice.waitFor('/1/software/1/status/', 'done');
    const store = await opened(t, place);
    await t.notThrowsAsync(store.ready());
    const { sha256 } = await store.put(inChunks(newBody(LARGE)));
    await t.throwsAsync(store.put(breakingAfter(LARGE - 1000, newBody(LARGE))), { name: 'ConnectionLost' });
    t.is(await store.stat('0'.repeat(64)), undefined);
    await store.sweepIncoming(new Date(Date.now() + 60_000));
    await store.remove(sha256);
    t.false((await listOf(store)).some((listed) => listed.sha256 === sha256));
  });
}

test('a policy with a prefix without its * is detected at the start', async (t) => {
  const policy = shared.replace('"team/*"', '"team/"');
  t.not(policy, shared);
  const place = await placeWith(policy, 'team/');
  const error = await t.throwsAsync(opened(t, place), { instanceOf: ObjectStoreUnavailable });
  t.regex(error.message, /AccessDenied/);
});
