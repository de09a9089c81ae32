import { clock } from '../../tools/clock.ts';
import type { View } from '../../views/view.ts';

const PAGE_SIZE = 500;
/** Pause between two pages, so that requests are served first. */
const PAUSE_MS = 50;

type Range<Row> = {
  readonly equal?: Readonly<Record<string, string>>;
  /** A field of RFC 3339 times, and the least and greatest of them. */
  readonly field: keyof Row & string;
  readonly from: string;
  readonly upTo: string;
};

/**
 * Yields rows ordered by time, page by page, without occupying the event loop. Rows that leave the range meanwhile do
 * not hide others.
 */
export async function* pagedByTime<Row extends { readonly depositId: number }>(
  view: View<Row>,
  { equal = {}, field, from, upTo }: Range<Row>,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let start = from;
  let seen = new Set<number>(); // deposits at the time `start` that were yielded
  while (!signal.aborted) {
    const limit = PAGE_SIZE + seen.size;
    const rows = view.find({
      equal,
      from: { field, value: start },
      upTo: { field, value: upTo },
      orderBy: field,
      limit,
    });
    for (const row of rows) if (!seen.has(row.depositId)) yield row;
    if (rows.length < limit) return;
    const last = String(rows.at(-1)?.[field]);
    seen = new Set(rows.filter((row) => row[field] === last).map(({ depositId }) => depositId));
    start = last;
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}
