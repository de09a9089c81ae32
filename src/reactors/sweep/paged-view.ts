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

/** Yields rows ordered by time, page by page, without occupying the event loop. */
export async function* pagedByTime<Row>(
  view: View<Row>,
  { equal = {}, field, from, upTo }: Range<Row>,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let [start, skip] = [from, 0];
  while (!signal.aborted) {
    const rows = view.find({
      equal,
      from: { field, value: start },
      upTo: { field, value: upTo },
      orderBy: field,
      offset: skip,
      limit: PAGE_SIZE,
    });
    yield* rows;
    if (rows.length < PAGE_SIZE) return;
    const last = String(rows.at(-1)?.[field]);
    const ties = rows.filter((row) => row[field] === last).length;
    skip = last === start ? skip + ties : ties;
    start = last;
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}
