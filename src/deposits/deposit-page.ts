import { type DepositStatusView, depositLists } from '../../projections/deposit-status.ts';
import type { Status } from '../domain/deposit/status-detail.ts';
import type { View } from '../views/view.ts';

/** Selects deposits of a client in a collection, and a page of them. */
export type DepositQuery = {
  readonly client: string;
  readonly collection: string;
  readonly status: Status | null;
  readonly origin: string | null;
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
  /**
   * Where an adjacent page ended, so that this one continues there even if deposits were added. Its deposits have ids
   * below this one, or above it. Without a cursor, the page is found by its number.
   */
  readonly cursor: Cursor | null;
};

type Cursor = { readonly side: 'below' | 'above'; readonly depositId: number };

/** A page of deposits, the newest first. */
export type DepositPage = {
  readonly deposits: readonly DepositStatusView[];
  /** Number of deposits on all pages. */
  readonly total: number;
  /** Number of the last page, at least 1. */
  readonly lastPage: number;
  /** Whether older deposits follow. */
  readonly hasMore: boolean;
  /** Whether newer deposits precede. */
  readonly hasNewer: boolean;
};

type Deposits = Pick<View<DepositStatusView>, 'find' | 'count' | 'counts'>;

/**
 * Reads a page. The cost depends on the page size and, for a page found by its number, on its distance from the nearer
 * end.
 */
export function depositPage(view: Deposits, query: DepositQuery): DepositPage {
  const { page, pageSize, cursor } = query;
  const asked = indexedQuery(query);
  const total = totalOf(view, query, asked);
  const lastPage = Math.max(1, Math.ceil(total / pageSize));
  const deposits = cursor
    ? depositsFromCursor(view, asked, cursor, pageSize)
    : depositsOfNumber(view, asked, page, pageSize, total);
  const [first, last] = [deposits.at(0), deposits.at(-1)];
  const hasOther = (side: Cursor['side'], { depositId }: DepositStatusView) =>
    depositsFromCursor(view, asked, { side, depositId }, 1).length > 0;
  const hasMore = last !== undefined && (cursor ? hasOther('below', last) : page < lastPage);
  const hasNewer = cursor && first ? hasOther('above', first) : page > 1;
  return { deposits, total, lastPage, hasMore, hasNewer };
}

/** A selection of deposits, and the index that orders them by id. */
type IndexedQuery = { readonly index: readonly string[]; readonly equal: Readonly<Record<string, string>> };

function indexedQuery({ client, collection, status, origin }: DepositQuery): IndexedQuery {
  const equal = { client, collection, ...(status !== null && { status }) };
  if (origin !== null) return { index: depositLists.ofOrigin, equal: { ...equal, origin } };
  return { index: status === null ? depositLists.all : depositLists.ofStatus, equal };
}

/**
 * Returns the number of deposits. It is maintained by the view, except for the versions of one origin, which are
 * counted.
 */
function totalOf(
  view: Deposits,
  { client, collection, status, origin }: DepositQuery,
  asked: IndexedQuery,
): number {
  if (origin !== null) return view.count(asked);
  const counts = view.counts({ client, collection });
  if (status !== null) return counts.get(status) ?? 0;
  return counts.values().reduce((total, count) => total + count, 0);
}

/** Reads a page by its number, from the nearer end of the list. */
function depositsOfNumber(
  view: Deposits,
  asked: IndexedQuery,
  page: number,
  pageSize: number,
  total: number,
): DepositStatusView[] {
  const offset = (page - 1) * pageSize;
  const limit = Math.min(pageSize, total - offset);
  if (limit <= 0) return [];
  const order = { orderBy: 'depositId', limit };
  const after = total - offset - limit;
  if (offset <= after) return view.find({ ...asked, ...order, descending: true, offset });
  return view.find({ ...asked, ...order, offset: after }).toReversed();
}

/** Reads the nearest deposits with lower or higher ids, the newest first. */
function depositsFromCursor(
  view: Deposits,
  asked: IndexedQuery,
  { side, depositId }: Cursor,
  limit: number,
): DepositStatusView[] {
  const field = 'depositId';
  const order = { orderBy: field, limit };
  if (side === 'above')
    return view.find({ ...asked, ...order, from: { field, value: depositId + 1 } }).toReversed();
  return view.find({ ...asked, ...order, upTo: { field, value: depositId - 1 }, descending: true });
}
