import { hash } from 'node:crypto';
import test from 'ava';
import { BUCKET, S3Server } from '../../simulation/network/s3-server.ts';
import { Host, Incarnation } from '../../simulation/world/host.ts';
import { setWorld, World } from '../../simulation/world/world.ts';

const KEY = 'v1/sha256/ab/cd/abcd';
const process = new Incarnation(new Host('operator', 'operator'));

test.serial('a loss is attributed to a power cut if gc removes the old version that it left', (t) => {
  const world = new World(1);
  setWorld(world);
  t.teardown(() => setWorld(undefined));
  const store = new S3Server();
  store.put(KEY, Buffer.from('an orphan'));
  world.now = 5000;
  store.put(KEY, Buffer.from('the same bytes, for a deposit'));
  store.cutPower(1000);
  t.true(store.objects.has(KEY), 'the orphan is left');
  t.deepEqual([...store.lost], []);
  store.handle({ process, method: 'DELETE', path: `/${BUCKET}/${KEY}`, headers: {}, body: Buffer.alloc(0) });
  t.deepEqual([...store.lost], [KEY]);
  store.restoreLost();
  t.is(store.objects.get(KEY)?.bytes.toString(), 'the same bytes, for a deposit');
});

test.serial('an operator does not restore what was stored again after a power cut', (t) => {
  const world = new World(1);
  setWorld(world);
  t.teardown(() => setWorld(undefined));
  const store = new S3Server();
  store.put(KEY, Buffer.from('lost'));
  store.cutPower(1000);
  store.put(KEY, Buffer.from('stored again'));
  store.handle({ process, method: 'DELETE', path: `/${BUCKET}/${KEY}`, headers: {}, body: Buffer.alloc(0) });
  store.restoreLost();
  t.false(store.objects.has(KEY));
});

test.serial(
  'an upload in parts becomes an object, and of a lost one or one with a lost part nothing is left',
  (t) => {
    setWorld(new World(1));
    t.teardown(() => setWorld(undefined));
    const store = new S3Server();
    const ask = (method: string, query: string, body = '') => {
      const bytes = Buffer.from(body);
      const digests = {
        'content-md5': Buffer.from(hash('md5', bytes), 'hex').toString('base64'),
        'x-amz-content-sha256': hash('sha256', bytes),
      };
      const path = `/${BUCKET}/incoming/1${query}`;
      const outcome = store.handle({
        process,
        method,
        path,
        headers: digests,
        body: bytes,
      });
      if (outcome.kind !== 'answer') throw new Error(outcome.kind);
      const { status, body: document } = outcome.answer;
      return { status, code: /<Code>(\w+)</.exec(document.toString())?.[1] };
    };
    const complete = (id: string, ...numbers: readonly number[]) =>
      ask('POST', `?uploadId=${id}`, numbers.map((number) => part(number)).join(''));
    const part = (number: number) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${hash('md5', `part ${number}`)}</ETag></Part>`;
    for (const id of ['upload-1', 'upload-2', 'upload-3']) {
      t.is(ask('POST', '?uploads').status, 200);
      for (const number of [2, 1])
        t.is(ask('PUT', `?partNumber=${number}&uploadId=${id}`, `part ${number}`).status, 200);
    }
    t.deepEqual(complete('upload-1'), { status: 400, code: 'InvalidRequest' });
    t.deepEqual(complete('upload-1', 2, 1), { status: 400, code: 'InvalidPartOrder' });
    t.deepEqual(complete('upload-1', 1, 3), { status: 400, code: 'InvalidPart' });
    t.is(complete('upload-1', 1, 2).status, 200);
    t.is(store.objects.get('incoming/1')?.bytes.toString(), 'part 1part 2');
    t.regex(store.objects.get('incoming/1')?.etag ?? '', /^[0-9a-f]{32}-2$/);
    t.deepEqual(complete('upload-1', 1, 2), { status: 404, code: 'NoSuchUpload' });
    const loss = { what: 'part', share: 1 } as const;
    store.uploadLosses.add(loss);
    t.deepEqual(complete('upload-2', 1, 2), { status: 400, code: 'InvalidPart' });
    store.uploadLosses.delete(loss);
    t.is(ask('DELETE', '?uploadId=upload-2').status, 204);
    store.cutPower(1000);
    t.deepEqual(complete('upload-3', 1, 2), { status: 404, code: 'NoSuchUpload' });
    t.deepEqual(store.uploads.all, []);
    t.is(ask('DELETE', '?uploadId=upload-3').status, 204);
  },
);

test.serial('an object with other bytes than its key names is altered until they are stored again', (t) => {
  setWorld(new World(1));
  t.teardown(() => setWorld(undefined));
  const store = new S3Server();
  const name = `v1/sha256/${hash('sha256', 'bytes')}`;
  const copy = (source: string) => {
    const headers = { 'x-amz-copy-source': `/${BUCKET}/${source}` };
    store.handle({ process, method: 'PUT', path: `/${BUCKET}/${name}`, headers, body: Buffer.alloc(0) });
  };
  store.put('incoming/1', Buffer.from('other bytes'));
  store.put('incoming/2', Buffer.from('bytes'));
  copy('incoming/1');
  t.deepEqual([...store.altered], [name]);
  copy('incoming/2');
  t.deepEqual([...store.altered], []);
});
