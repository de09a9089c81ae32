import type { ViewFile } from '../src/read-models/view-file.ts';
import type { ViewQuery } from '../src/read-models/view-store.ts';

const PAGE = 500;

/**
 * What a view has of each deposit that is asked for, the newest first, page by page. A page begins below the last id of
 * the one before: counted from the beginning, what a service writes meanwhile would move it.
 */
export function* depositsOfView<View extends { readonly depositId: number }>(
  view: Pick<ViewFile, 'find'>,
  query: Pick<ViewQuery, 'equal' | 'from'>,
  limit = Infinity,
): Generator<View> {
  let [below, left] = [Number.MAX_SAFE_INTEGER, limit];
  for (;;) {
    const size = Math.min(PAGE, left);
    const upTo = { field: 'depositId', value: below - 1 };
    const order = { orderBy: 'depositId', descending: true, limit: size };
    const page = view.find({ ...query, upTo, ...order }) as View[]; // it is the view of these
    yield* page;
    const last = page.at(-1);
    left -= page.length;
    if (!last || page.length < size || left === 0) return;
    below = last.depositId;
  }
}
