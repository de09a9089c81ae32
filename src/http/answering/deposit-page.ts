import { type DepositStatusView, depositLists } from '../../../projections/deposit-status.ts';
import type { Status } from '../../domain/deposit/status-detail.ts';
import type { View } from '../../read-models/projector.ts';

/** Which deposits of a client in a collection, and which page of them. */
export type DepositQuery = {
  readonly client: string;
  readonly collection: string;
  readonly status: Status | null;
  readonly origin: string | null;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /**
   * Where another page ended, so that this one goes on there whatever has come since: its deposits have ids below
   * this one, or above it. Without either, the page is found by its number.
   */
  readonly beside: { readonly side: 'below' | 'above'; readonly depositId: number } | null;
};

/** The newest deposit comes first. */
export type DepositPage = {
  readonly deposits: readonly DepositStatusView[];
  /** Deposits on all pages. */
  readonly total: number;
  /** Number of the last page, at least 1. */
  readonly lastPage: number;
  /** Older ones come after these. */
  readonly goesOn: boolean;
};

type Deposits = Pick<View<DepositStatusView>, 'find' | 'count' | 'counts'>;

/** What it costs depends on the size of the page, and on how far from either end one is that is found by its number. */
export function depositPage(view: Deposits, query: DepositQuery): DepositPage {
  const { page, pageSize, beside } = query;
  const asked = askedFor(query);
  const total = totalOf(view, query, asked);
  const lastPage = Math.max(1, Math.ceil(total / pageSize));
  const deposits = beside
    ? depositsBeside(view, asked, beside, pageSize)
    : depositsOfNumber(view, asked, page, pageSize, total);
  const last = deposits.at(-1);
  const goesOn =
    last !== undefined &&
    (beside ? depositsBelow(view, asked, last.depositId, 1).length > 0 : page < lastPage);
  return { deposits, total, lastPage, goesOn };
}

/** Views, and the index that has them in the order of their ids. */
type Asked = { readonly index: readonly string[]; readonly equal: Readonly<Record<string, string>> };

function askedFor({ client, collection, status, origin }: DepositQuery): Asked {
  const equal = { client, collection, ...(status !== null && { status }) };
  if (origin !== null) return { index: depositLists.ofOrigin, equal: { ...equal, origin } };
  return { index: status === null ? depositLists.all : depositLists.ofStatus, equal };
}

/** Counted beforehand, except for the versions of one origin. */
function totalOf(view: Deposits, { client, collection, status, origin }: DepositQuery, asked: Asked): number {
  if (origin !== null) return view.count(asked);
  const counts = view.counts({ client, collection });
  if (status !== null) return counts.get(status) ?? 0;
  return counts.values().reduce((total, count) => total + count, 0);
}

/** Read from the nearer end of the list. */
function depositsOfNumber(
  view: Deposits,
  asked: Asked,
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

function depositsBeside(
  view: Deposits,
  asked: Asked,
  { side, depositId }: NonNullable<DepositQuery['beside']>,
  limit: number,
): DepositStatusView[] {
  if (side === 'below') return depositsBelow(view, asked, depositId, limit);
  const from = { field: 'depositId', value: depositId + 1 };
  return view.find({ ...asked, from, orderBy: 'depositId', limit }).toReversed();
}

function depositsBelow(view: Deposits, asked: Asked, depositId: number, limit: number): DepositStatusView[] {
  const upTo = { field: 'depositId', value: depositId - 1 };
  return view.find({ ...asked, upTo, orderBy: 'depositId', descending: true, limit });
}
