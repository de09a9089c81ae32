import type { View as Rows, ViewQuery } from '../../views/view.ts';

const PAGE = 500;

/**
 * Yields the rows of the selected deposits, the newest first, in pages. Each page begins below the last id of the
 * previous one, since offsets would shift when a service writes to the view.
 */
export function* depositsOfView<View extends { readonly depositId: number }>(
  view: Pick<Rows<unknown>, 'find'>,
  query: Pick<ViewQuery, 'equal' | 'from'>,
  limit = Infinity,
): Generator<View> {
  let [below, left] = [Number.MAX_SAFE_INTEGER, limit];
  for (;;) {
    const size = Math.min(PAGE, left);
    const upTo = { field: 'depositId', value: below - 1 };
    const order = { orderBy: 'depositId', descending: true, limit: size };
    const page = view.find({ ...query, upTo, ...order }) as View[]; // the view has these rows
    yield* page;
    const last = page.at(-1);
    left -= page.length;
    if (!last || page.length < size || left === 0) return;
    below = last.depositId;
  }
}
