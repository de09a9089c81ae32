import type { StoredView } from '../../service/backends/open-view.ts';
import type { ViewQuery } from '../../views/view.ts';

/**
 * Yields the rows of the selected deposits, the newest first. Their ids are read at once, since no index of all views has
 * them in this order; then each row, unless a service has changed it so that it is selected no longer.
 */
export function* depositsOfView<View extends { readonly depositId: number }>(
  view: Pick<StoredView, 'find' | 'numbers'>,
  query: Pick<ViewQuery, 'equal' | 'from'>,
  limit = Infinity,
): Generator<View> {
  const order = { orderBy: 'depositId', descending: true, limit: Math.min(limit, Number.MAX_SAFE_INTEGER) };
  for (const depositId of view.numbers('depositId', { ...query, ...order })) {
    const equal = { ...query.equal, key: String(depositId) };
    yield* view.find({ ...query, equal, limit: 1 }) as View[]; // the view has these rows
  }
}
