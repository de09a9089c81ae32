import type { View } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';

const PAGE = 500;
/** Between two pages, in milliseconds: requests come first. */
const PAUSE_MS = 50;

type Range<Row> = {
  readonly equal?: Readonly<Record<string, string>>;
  /** A field with RFC 3339 times, and the least and greatest of them. */
  readonly field: keyof Row & string;
  readonly from: string;
  readonly upTo: string;
};

/** Yields rows in the order of a time, however many there are, without occupying the event loop. */
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
      limit: PAGE,
    });
    yield* rows;
    if (rows.length < PAGE) return;
    const last = String(rows.at(-1)?.[field]);
    const ties = rows.filter((row) => row[field] === last).length;
    skip = last === start ? skip + ties : ties;
    start = last;
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}
