import test, { type ExecutionContext } from 'ava';
import { MinioBucket } from '../../src/object-store/s3/bucket.ts';
import { breakingAfter, bytesOf, inChunks, listOf, newBody, sha256Of } from './bodies.ts';
import type { openBelow } from './s3-under-test.ts';

const MB = 1_000_000;
/** Size of two parts. */
const LARGE = 9 * MB;

/** Declares tests of an S3 store in addition to the contract of every archive store. */
export function sentInParts(open: (t: ExecutionContext) => ReturnType<typeof openBelow>): void {
  test('objects sent in parts fulfil the contract, too', async (t) => {
    const { store, place } = await open(t);
    const body = newBody(LARGE);
    await Promise.all([1, 2, 3].map(() => store.put(inChunks(body))));
    await t.throwsAsync(store.put(breakingAfter(LARGE - MB / 10, body)), { name: 'ConnectionLost' });
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
    t.deepEqual(
      (await listOf(store)).map(({ sha256 }) => sha256),
      [sha256Of(body)],
    );
    t.is(await store.sweepIncoming(new Date(Date.now() + 60_000)), 0);
    using bucket = new MinioBucket(place);
    const { uploads } = await bucket.ask('list', (client) =>
      client.listIncompleteUploadsQuery(bucket.name, `${place.prefix}incoming/`, '', '', '/'),
    );
    t.deepEqual(uploads, []);
  });
}
