import test from 'ava';
import { pagedByTime } from '../../src/reactors/sweep/paged-view.ts';
import type { View } from '../../src/views/view.ts';

type Row = { readonly depositId: number; readonly updatedAt: string };

const timeOf = (number: number): string => new Date(number).toISOString();

/** Returns a view of rows that may change while it is read. */
function viewOf(rows: readonly Row[]): View<Row> {
  const find: View<Row>['find'] = ({ from, upTo, limit, offset = 0 }) =>
    rows
      .filter(({ updatedAt }) => updatedAt >= String(from?.value) && updatedAt <= String(upTo?.value))
      .sort((one, other) => (one.updatedAt < other.updatedAt ? -1 : 1))
      .slice(offset, offset + limit);
  return { find } as View<Row>;
}

async function readWhile(rows: Row[], meanwhile: (read: Row) => void): Promise<number[]> {
  const read: number[] = [];
  const range = { field: 'updatedAt', from: '', upTo: timeOf(10_000) } as const;
  for await (const row of pagedByTime(viewOf(rows), range, new AbortController().signal)) {
    read.push(row.depositId);
    meanwhile(row);
  }
  return read;
}

test('no row is skipped when the last one of a page changes before the next page is read', async (t) => {
  const rows = Array.from({ length: 1200 }, (_, number) => ({
    depositId: number,
    updatedAt: timeOf(number),
  }));
  const read = await readWhile(rows, ({ depositId }) => {
    if (depositId % 500 === 499) rows[depositId] = { depositId, updatedAt: timeOf(20_000) };
  });
  t.deepEqual(
    read,
    Array.from({ length: 1200 }, (_, number) => number),
  );
});

test('rows with equal times are read once each, also across pages', async (t) => {
  const rows = Array.from({ length: 1700 }, (_, number) => ({
    depositId: number,
    updatedAt: timeOf(Math.min(Math.max(number, 300), 1600)),
  }));
  const read = await readWhile(rows, () => undefined);
  t.is(read.length, 1700);
  t.is(new Set(read).size, 1700);
});
