import test from 'ava';
import { until } from '../../testing/service/running-service.ts';
import { inChunks, newBody } from './bodies.ts';
import { openBehindProxy } from './s3-under-test.ts';

const LARGE = 20_000_000;

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
