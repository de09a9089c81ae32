import test from 'ava';
import { DublinCoreCache } from '../../src/http/responses/dublin-core-cache.ts';

test('a term that several entries repeat counts once against the characters of a receipt', async (t) => {
  const unreadable = { get: () => t.fail('every entry is in the cache') };
  const cache = new DublinCoreCache(unreadable, { depth: 1, elements: 1, attributes: 1, attributeLength: 1 });
  const abstract = { name: 'abstract', value: 'a'.repeat(16_000) };
  const entries = Array.from({ length: 5 }, (_, index) => ({
    sha256: String(index),
    length: 1,
    encoding: 'utf-8',
  }));
  for (const [index, entry] of entries.entries())
    cache.set(entry, [abstract, { name: 'subject', value: String(index) }]);
  const shown = await cache.of(entries);
  t.deepEqual(
    shown?.map(({ value }) => value.slice(0, 1)),
    ['a', '0', '1', '2', '3', '4'],
  );
});
