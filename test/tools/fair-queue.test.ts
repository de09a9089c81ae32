import test from 'ava';
import { FairQueue } from '../../src/tools/concurrency/fair-queue.ts';

test('owners have their turns one after the other, each in the order in which it came', (t) => {
  const waiting = new FairQueue<string>();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) waiting.add(name.charAt(0), name);
  t.is(waiting.size, 6);
  t.is(
    waiting.take((owner) => owner !== 'a'),
    'b1',
  );
  const taken = Array.from({ length: 4 }, () => waiting.take());
  t.deepEqual(taken, ['a1', 'c1', 'a2', 'c2']);
  waiting.add('b', 'b2');
  t.deepEqual([waiting.takeAll(), waiting.size, waiting.take()], [['a3', 'b2'], 0, undefined]);
});
