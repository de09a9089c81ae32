import test from 'ava';
import { findInside } from '../../../src/modules/console/listing/objects-inside.ts';
import { parseReference } from '../../../src/swhid/swhid.ts';

test('a search inside deposits of few trees says that older deposits were not searched', async (t) => {
  const rows = Array.from({ length: 501 }, (_, index) => ({
    depositId: 501 - index,
    client: 'alice',
    collection: 'software',
    directory: index < 500 ? 'a'.repeat(40) : 'b'.repeat(40),
    revisionId: 'c'.repeat(40),
  }));
  const answerFor = (count: number) => {
    const found = { find: ({ limit }: { limit: number }) => rows.slice(0, Math.min(limit, count)) };
    const resolver = { resolve: () => Promise.resolve(undefined) };
    const swhid = parseReference(`swh:1:cnt:${'d'.repeat(40)}`);
    return findInside(found as never, resolver, swhid, 20, AbortSignal.abort());
  };
  t.is((await answerFor(500)).limit, null);
  t.regex((await answerFor(501)).limit ?? '', /^Only the 500 newest deposits were searched/);
});
