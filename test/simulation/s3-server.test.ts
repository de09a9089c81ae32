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
