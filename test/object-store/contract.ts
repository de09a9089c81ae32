import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ContentMismatch, ObjectMissing, type ObjectStore } from '../../src/object-store/object-store.ts';
import {
  breakingAfter,
  bytesOf,
  ConnectionLost,
  heldBytes,
  inChunks,
  listOf,
  md5Of,
  newBody,
  sha256Of,
} from './bodies.ts';

const MB = 1_000_000;
const SIZES = [0, 1, 65_536, 65_537, 300_000, 5 * MB];

/**
 * Declares the tests of the contract of every archive store. `open` returns a new store to each test, empty, and
 * disposes of it.
 */
export function archiveStoreContract(open: (t: ExecutionContext) => Promise<ObjectStore>): void {
  keeping(open);
  promising(open);
  breaking(open);
  reading(open);
  removing(open);
  bounded(open);
}

type Open = (t: ExecutionContext) => Promise<ObjectStore>;

function keeping(open: Open): void {
  test('the id of a store is not one of its objects, and remains until another one is set', async (t) => {
    const store = await open(t);
    t.is(await store.id(), undefined);
    for (const id of [randomUUID(), randomUUID()]) {
      await store.setId(id);
      t.is(await store.id(), id);
    }
    const proposed = randomUUID();
    t.false(await store.isProposed(proposed));
    await store.proposeId(proposed);
    t.true(await store.isProposed(proposed));
    t.not(await store.id(), proposed);
    await store.setId(proposed);
    t.false(await store.isProposed(proposed));
    const id = await store.id();
    t.is(id, proposed);
    t.deepEqual(await listOf(store), []);
    t.is(await store.sweepIncoming(inAMinute()), 0);
    t.is(await store.id(), id);
  });

  test('an object of any size is returned as it was put', async (t) => {
    const store = await open(t);
    for (const length of SIZES) {
      const body = newBody(length);
      const stored = await store.put(inChunks(body), { md5: md5Of(body), sha256: sha256Of(body), length });
      t.deepEqual(stored, { sha256: sha256Of(body), length });
      t.deepEqual(await store.stat(stored.sha256), { length });
      t.is((await store.get(stored.sha256)).length, length);
      t.true(body.equals(await bytesOf(store, stored.sha256)), `${length} bytes`);
      const from = Math.floor(length / 3);
      const rest = await store.get(stored.sha256, from);
      t.is(rest.length, length, 'that of the complete object');
      t.true(body.subarray(from).equals(Buffer.concat(await Array.fromAsync(rest.body))), `${length} bytes`);
    }
  });

  for (const length of [1000, 300_000]) {
    test(`the same ${length} bytes twice are one object`, async (t) => {
      const store = await open(t);
      const body = newBody(length);
      t.deepEqual(await store.put(inChunks(body)), await store.put(inChunks(body, 999)));
      t.is((await listOf(store)).length, 1);
      t.true(body.equals(await bytesOf(store, sha256Of(body))));
    });

    test(`the same ${length} bytes put twenty times concurrently are one object`, async (t) => {
      const store = await open(t);
      const body = newBody(length);
      const stored = await Promise.all(Array.from({ length: 20 }, () => store.put(inChunks(body))));
      t.is(new Set(stored.map(({ sha256 }) => sha256)).size, 1);
      t.is((await listOf(store)).length, 1);
      t.is(await store.sweepIncoming(inAMinute()), 0);
      t.true(body.equals(await bytesOf(store, sha256Of(body))));
    });

    test(`an object of ${length} bytes that is put again counts as stored from then on`, async (t) => {
      const store = await open(t);
      const body = newBody(length);
      await store.put(inChunks(body));
      const [before] = await listOf(store);
      await pause(1100); // some stores have a resolution of seconds
      await store.put(inChunks(body));
      const [after] = await listOf(store);
      t.true(Number(after?.storedAt) > Number(before?.storedAt));
    });
  }

  test('a body may arrive in chunks of one byte, with empty ones between', async (t) => {
    const store = await open(t);
    const body = newBody(70_000);
    async function* source() {
      for (const byte of body) yield* [Buffer.of(byte), Buffer.alloc(0)];
    }
    t.is((await store.put(source())).sha256, sha256Of(body));
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
  });

  test('a body may arrive in one chunk', async (t) => {
    const store = await open(t);
    const body = newBody(3 * MB);
    t.is((await store.put(inChunks(body, body.length))).sha256, sha256Of(body));
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
  });

  test('a body may arrive slowly', async (t) => {
    const store = await open(t);
    const body = newBody(400_000);
    async function* source() {
      for await (const chunk of inChunks(body)) {
        await pause(20);
        yield chunk;
      }
    }
    t.is((await store.put(source(), { md5: md5Of(body) })).length, body.length);
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
  });

  test('an opened store is ready', async (t) => {
    const store = await open(t);
    await t.notThrowsAsync(store.ready());
    t.deepEqual(await listOf(store), []);
  });
}

const codes = ['MD5_MISMATCH', 'SHA256_MISMATCH', 'LENGTH_MISMATCH', 'TOO_LARGE'] as const;

function promising(open: Open): void {
  for (const code of codes) {
    test(`a body other than expected is refused with ${code}`, async (t) => {
      const store = await open(t);
      for (const length of [500, 65_536, 400_000]) {
        const broken = {
          MD5_MISMATCH: { md5: md5Of(Buffer.from('others')) },
          SHA256_MISMATCH: { sha256: sha256Of(Buffer.from('others')) },
          LENGTH_MISMATCH: { length: length + 1 },
          TOO_LARGE: { maxLength: length - 1 },
        };
        const promised = broken[code];
        const body = newBody(length);
        const put = store.put(inChunks(body), promised);
        const error = await t.throwsAsync(put, { instanceOf: ContentMismatch }, `${length} bytes`);
        t.is(error.code, code);
        for (const value of Object.values(promised)) t.true(error.message.includes(String(value)));
        await holdsNothing(t, store, body);
      }
    });
  }

  test('a body longer than expected is refused', async (t) => {
    const store = await open(t);
    const body = newBody(100_000);
    const put = store.put(inChunks(body), { length: 99_999 });
    const error = await t.throwsAsync(put, { instanceOf: ContentMismatch });
    t.is(error.code, 'LENGTH_MISMATCH');
    await holdsNothing(t, store, body);
  });

  test('a body exactly at the limit is accepted', async (t) => {
    const store = await open(t);
    for (const length of [0, 65_536, 70_000]) {
      t.is((await store.put(inChunks(newBody(length)), { maxLength: length })).length, length);
    }
  });

  test('no more than the limit is read from a source', async (t) => {
    const store = await open(t);
    let pulled = 0;
    let returned = false;
    async function* endless() {
      try {
        for (;;) {
          pulled += 10_000;
          yield Buffer.alloc(10_000);
        }
      } finally {
        returned = true;
      }
    }
    await t.throwsAsync(store.put(endless(), { maxLength: 100_000 }), { instanceOf: ContentMismatch });
    t.is(pulled, 110_000);
    t.true(returned);
  });
}

function breaking(open: Open): void {
  for (const length of [1000, 200_000, 3 * MB]) {
    test(`a source of ${length} bytes that fails at any point leaves nothing`, async (t) => {
      const store = await open(t);
      for (const bytes of [0, length / 2, length]) {
        const body = newBody(length);
        const put = store.put(breakingAfter(bytes, body));
        await t.throwsAsync(put, { instanceOf: ConnectionLost }, `after ${bytes} bytes`);
        await holdsNothing(t, store, body);
        t.is((await store.put(inChunks(body))).sha256, sha256Of(body));
        await store.remove(sha256Of(body));
      }
    });
  }

  test('an object remains when the same bytes are put again and the source fails', async (t) => {
    const store = await open(t);
    const body = newBody(200_000);
    await store.put(inChunks(body));
    await t.throwsAsync(store.put(breakingAfter(200_000, body)), { instanceOf: ConnectionLost });
    t.true(body.equals(await bytesOf(store, sha256Of(body))));
  });
}

function reading(open: Open): void {
  test('an object that was never put is missing', async (t) => {
    const store = await open(t);
    const sha256 = sha256Of(newBody(10));
    t.is(await store.stat(sha256), undefined);
    const error = await t.throwsAsync(store.get(sha256), { instanceOf: ObjectMissing });
    t.true(error.message.includes(sha256));
    await t.throwsAsync(store.materialize(sha256), { instanceOf: ObjectMissing });
  });

  test('a name that is no digest is of no object, also if it leads to a file', async (t) => {
    const store = await open(t);
    const id = randomUUID();
    await store.setId(id);
    for (const name of ['.././store-id', '../../../store-id', '']) {
      t.is(await store.stat(name), undefined);
      await t.throwsAsync(store.get(name), { instanceOf: ObjectMissing });
      await t.throwsAsync(store.get(name, 1), { instanceOf: ObjectMissing });
      await t.throwsAsync(store.materialize(name), { instanceOf: ObjectMissing });
      await store.remove(name);
    }
    t.is(await store.id(), id);
  });

  test('a reader may stop before the end, never begin, or abandon the body', async (t) => {
    const store = await open(t);
    const { sha256 } = await store.put(inChunks(newBody(2 * MB)));
    const left = await store.get(sha256);
    for await (const _chunk of left.body) break;
    const ignored = await store.get(sha256);
    ignored.body.destroy();
    await store.get(sha256);
    t.true(left.body.destroyed);
    t.is((await bytesOf(store, sha256)).length, 2 * MB);
  });

  test('an object of any size can be materialized', async (t) => {
    const store = await open(t);
    for (const length of [0, 1000, 300_000]) {
      const body = newBody(length);
      await store.put(inChunks(body));
      await using local = await store.materialize(sha256Of(body));
      t.is(local.length, length);
      const { source } = structuredClone({ source: local.source });
      t.true(body.equals(source.kind === 'file' ? await readFile(source.path) : source.bytes));
    }
  });

  test('all objects are listed with their lengths and storage times', async (t) => {
    const store = await open(t);
    const bodies = [0, 10, 65_536, 65_537, 100_000].map(newBody);
    await Promise.all(bodies.map((body) => store.put(inChunks(body))));
    const listed = await listOf(store);
    const expected = bodies.map((body) => ({ sha256: sha256Of(body), length: body.length }));
    t.deepEqual(
      listed.map(({ sha256, length }) => ({ sha256, length })).sort(bySha256),
      expected.sort(bySha256),
    );
    for (const { storedAt } of listed) t.true(Math.abs(Date.now() - storedAt.getTime()) < 60_000);
  });
}

function removing(open: Open): void {
  for (const length of [1000, 300_000]) {
    test(`a removed object of ${length} bytes is gone, and can be put again`, async (t) => {
      const store = await open(t);
      const body = newBody(length);
      const other = newBody(length);
      await store.put(inChunks(other));
      await store.put(inChunks(body));
      await store.remove(sha256Of(body));
      await store.remove(sha256Of(body));
      await t.throwsAsync(store.get(sha256Of(body)), { instanceOf: ObjectMissing });
      t.deepEqual(
        (await listOf(store)).map(({ sha256 }) => sha256),
        [sha256Of(other)],
      );
      await store.put(inChunks(body));
      t.true(body.equals(await bytesOf(store, sha256Of(body))));
    });

    test(`an object of ${length} bytes remains if it was stored later than the removal allows`, async (t) => {
      const store = await open(t);
      const { sha256 } = await store.put(inChunks(newBody(length)));
      await store.remove(sha256, { storedBefore: new Date(Date.now() - 60_000) });
      t.deepEqual(await store.stat(sha256), { length });
      await store.remove(sha256, { storedBefore: inAMinute() });
      t.is(await store.stat(sha256), undefined);
    });
  }
}

function bounded(open: Open): void {
  test.serial('a source is not read far ahead of the store', async (t) => {
    const store = await open(t);
    const before = heldBytes();
    let most = 0;
    async function* source() {
      for (let chunk = 1; chunk <= 64 * 16; chunk += 1) {
        if (chunk % 128 === 0) most = Math.max(most, heldBytes() - before);
        yield Buffer.alloc(64 * 1024, chunk);
      }
    }
    t.is((await store.put(source())).length, 64 * 1024 * 1024);
    t.true(most < 16 * MB, `${most} bytes were buffered`);
  });

  test.serial('thirty concurrent bodies are not buffered in memory', async (t) => {
    const store = await open(t);
    const before = heldBytes();
    const { promise: allAreThere, resolve: go } = Promise.withResolvers<void>();
    let waiting = 0;
    let held = 0;
    async function* source(seed: number) {
      for (let chunk = 0; chunk < 63; chunk += 1) yield Buffer.alloc(16 * 1024, seed);
      waiting += 1;
      if (waiting === 30) {
        held = await leastHeld(before);
        go();
      }
      await allAreThere;
      yield Buffer.alloc(16 * 1024, seed);
    }
    const stored = await Promise.all(Array.from({ length: 30 }, (_, seed) => store.put(source(seed))));
    t.is(new Set(stored.map(({ sha256 }) => sha256)).size, 30);
    t.true(held < 10 * MB, `${held} of 31,000,000 bytes were buffered`);
  });
}

async function holdsNothing(t: ExecutionContext, store: ObjectStore, body: Uint8Array): Promise<void> {
  t.deepEqual(await listOf(store), []);
  t.is(await store.stat(sha256Of(body)), undefined);
  t.is(await store.sweepIncoming(inAMinute(), { dryRun: true }), 0);
}

/** Gives the store time to consume its input; resolves to the least number of bytes then held in memory. */
async function leastHeld(before: number): Promise<number> {
  let held = Infinity;
  for (let look = 0; look < 100 && held > 10 * MB; look += 1) {
    await pause(100);
    held = heldBytes() - before;
  }
  return held;
}

function inAMinute(): Date {
  return new Date(Date.now() + 60_000);
}

function bySha256(a: { sha256: string }, b: { sha256: string }): number {
  return a.sha256 < b.sha256 ? -1 : 1;
}
