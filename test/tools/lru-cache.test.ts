import test from 'ava';
import { LruCache } from '../../src/tools/lru-cache.ts';

test('recently used entries remain, others are evicted', (t) => {
  const values = new LruCache<number>(4);
  for (const value of [1, 2, 3, 4]) values.set(`${value}`, value);
  t.is(values.get('1'), 1);
  values.set('5', 5);
  values.set('6', 6);
  t.deepEqual(
    ['1', '2', '3', '5', '6'].map((key) => values.get(key)),
    [1, undefined, undefined, 5, 6],
  );
  values.delete('5');
  t.is(values.get('5'), undefined);
  values.clear();
  t.is(values.get('6'), undefined);
});

test('the total weight of the values is limited, whatever each weighs', (t) => {
  const values = new LruCache<string>(100, (text) => text.length);
  const kept = () => keys.map((key) => values.get(key) ?? '').join('').length;
  const keys = Array.from({ length: 300 }, (_, index) => `${index % 70}`);
  for (const [index, key] of keys.entries()) values.set(key, 'x'.repeat((index * 7) % 60));
  t.true(new Set(keys).size > 1);
  const whole = [...new Set(keys)].reduce((sum, key) => sum + (values.get(key)?.length ?? 0), 0);
  t.true(whole <= 100, `${whole}`);
  t.true(kept() > 0);
  values.set('heavy', 'x'.repeat(50));
  t.is(values.get('heavy')?.length, 50);
  values.set('heavy', 'x'.repeat(51));
  t.is(values.get('heavy'), undefined, 'not the one before either');
  for (let turn = 0; turn < 200; turn += 1) values.set('same', 'x'.repeat(turn % 40));
  values.set('other', 'x'.repeat(10));
  t.is(values.get('same')?.length, 39, 'a replaced value does not count twice');
});
