import test from 'ava';
import * as fc from 'fast-check';
import type { DepositPage } from '../../src/deposits/deposit-page.ts';
import { depositQueryIn, linkHeader, pageLinks } from '../../src/http/requests/deposit-query.ts';
import type { ServiceContext } from '../../src/http/service-context.ts';
import { Iris } from '../../src/sword/iris.ts';
import { SwordError } from '../../src/sword/sword-error.ts';
import { anyCharacter } from './odd-texts.ts';

const iris = new Iris('https://deposit.example/base/');

/** Parses the query string of an IRI. */
function queryIn(search: string) {
  const query: Record<string, string | string[]> = Object.create(null);
  const parameters = new URLSearchParams(search);
  for (const key of new Set(parameters.keys())) {
    const values = parameters.getAll(key);
    query[key] = values.length === 1 ? (values[0] as string) : values;
  }
  const context = { query, state: { login: { client: 'alice' } } };
  return depositQueryIn(context as unknown as ServiceContext, 'physics'); // the fields it reads
}

const id = fc.integer({ min: 1, max: 2 ** 40 });
const asked = fc.record({
  client: fc.constant('alice'),
  collection: fc.constant('physics'),
  status: fc.constantFrom(null, 'done', 'rejected', 'partial'),
  origin: fc.option(fc.string({ unit: anyCharacter }), { nil: null }),
  page: fc.integer({ min: 1, max: 1_000_000 }),
  pageSize: fc.integer({ min: 1, max: 1000 }),
  cursor: fc.constant(null),
});

test('every paging link requests the page that it was made for', (t) => {
  fc.assert(
    fc.property(asked, id, id, fc.nat({ max: 1_000_000 }), (query, first, last, pages) => {
      const deposits = [{ depositId: first }, { depositId: last }];
      const around = { hasMore: true, hasNewer: true };
      const page = { deposits, lastPage: pages + 1, ...around } as unknown as DepositPage; // the fields it reads
      const links = pageLinks(query, page, iris);
      for (const { rel, href } of links) {
        const again = queryIn(new URL(href).search);
        const { page: to, cursor, ...rest } = again;
        const { page: _page, cursor: _cursor, ...same } = query;
        t.deepEqual(rest, same, rel);
        if (rel === 'next') t.deepEqual([to, cursor], [query.page + 1, { side: 'below', depositId: last }]);
        if (rel === 'previous') t.deepEqual(cursor, { side: 'above', depositId: first });
        if (rel === 'first') t.deepEqual([to, cursor], [1, null]);
      }
      t.is((linkHeader(links) ?? '').split('>; rel="').length, links.length);
    }),
  );
});

test('any query is either parsed or refused', (t) => {
  const keys = fc.constantFrom(
    'page',
    'page_size',
    'status',
    'origin',
    'below',
    'above',
    '__proto__',
    'other',
  );
  const values = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.constantFrom('0', '01', '-1', '1e3', ' 1', 'done'),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, values), { maxLength: 5 }), (pairs) => {
      try {
        const { page, pageSize, cursor } = queryIn(new URLSearchParams(pairs).toString());
        t.true(page >= 1 && pageSize >= 1 && pageSize <= 1000);
        t.true(cursor === null || Number.isSafeInteger(cursor.depositId));
      } catch (error) {
        t.true(error instanceof SwordError, String(error));
      }
    }),
    { numRuns: 300 },
  );
});
