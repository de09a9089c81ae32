import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import { clock } from '../../../tools/clock.ts';
import type { Cursor, DepositPage } from '../protocol/deposit-list.ts';
import { rowOf, type Selection } from './deposit-query.ts';
import type { VisibleDeposits } from './visible-deposits.ts';

/** The page that is asked for: deposits of a selection, after those of the page before. */
type Asked = {
  readonly deposits: VisibleDeposits;
  readonly selection: Selection;
  readonly cursor: Cursor | undefined;
  readonly limit: number;
};

type Page = Pick<DepositPage, 'next' | 'searchedTo'> & { readonly found: readonly DepositSearchView[] };

/** Numbers of candidates that are examined at once: few at first, since most searches fill a page with them. */
const [FIRST_CANDIDATES, MAX_CANDIDATES] = [500, 4000];
/** Milliseconds after which a search stops, between two numbers of candidates. */
const MAX_SEARCH_MS = 40;
/** Deposits of a status that are read without the index of texts, which does not know the status. */
const FEW = 500;
/** Ids that are read at once, between other requests. */
const IDS_AT_ONCE = 500;

/**
 * Returns the deposits of a page: the newest first, or those changed last for a selection by times alone. A search by texts,
 * labels and ids ends after a time, with what it has found until then.
 */
export function pageOf(
  deposits: VisibleDeposits,
  selection: Selection,
  cursor: Cursor | undefined,
  limit: number,
): Omit<Page, 'found'> & Pick<DepositPage, 'rows'> {
  if (!deposits.mayAskFor(selection.labels)) return { rows: [], next: null, searchedTo: null };
  const asked = { deposits, selection, cursor, limit };
  const { found, ...page } = isSearch(selection) ? searched(asked) : listed(asked);
  return { ...page, rows: found.map(rowOf) };
}

/**
 * Resolves to the ids of the deposits of a selection, the oldest first; to the newest ones and one more than the limit if
 * there are more.
 */
export async function idsOf(
  deposits: VisibleDeposits,
  selection: Selection,
  limit: number,
): Promise<readonly number[]> {
  const ids: number[] = [];
  let before: Cursor | undefined;
  do {
    const { rows, next } = pageOf(deposits, selection, before, IDS_AT_ONCE);
    ids.push(...rows.map(({ depositId }) => depositId));
    if (next === null) break;
    before = next;
    await clock.nextTurn();
  } while (ids.length <= limit);
  return ids.slice(0, limit + 1).toReversed();
}

function isSearch({ contains, labels, ids }: Selection): boolean {
  return [contains, labels, ids].some((condition) => condition !== undefined);
}

function listed({ deposits, selection, cursor, limit }: Asked): Page {
  const orderBy = selection.from || selection.upTo ? 'changed' : 'depositId';
  const before = cursor === undefined ? {} : { before: { field: orderBy, value: cursor } };
  const order = { orderBy, descending: true, limit: limit + 1 };
  return pageOfFound(deposits.find({ ...selection, ...before, ...order }), limit, orderBy);
}

function searched(asked: Asked): Page {
  const { deposits, selection, cursor, limit } = asked;
  if (isOfFew(deposits, selection)) return searchedInFew(asked);
  const found: DepositSearchView[] = [];
  const end = clock.monotonic() + MAX_SEARCH_MS;
  let [before, candidates] = [cursor, FIRST_CANDIDATES];
  for (;;) {
    const query = {
      ...selection,
      ...(before !== undefined && { before: { field: 'key', value: before } }),
      orderBy: 'key',
      descending: true,
    };
    const last = deposits.candidateAt(query, candidates - 1);
    const within = last === undefined ? {} : { lowestKey: last };
    found.push(...deposits.find({ ...query, ...within, limit: limit + 1 - found.length }));
    if (found.length > limit || last === undefined) return pageOfFound(found, limit, 'depositId');
    if (clock.monotonic() > end) return { found, next: last, searchedTo: last };
    [before, candidates] = [last, Math.min(candidates * 2, MAX_CANDIDATES)];
  }
}

/** Reads all deposits that the fields select, and examines their texts. */
function searchedInFew({ deposits, selection: conditions, cursor, limit }: Asked): Page {
  const { contains = {}, labels = [], ids = [], ...selection } = conditions;
  const before = cursor === undefined ? {} : { before: { field: 'depositId', value: cursor } };
  const order = { orderBy: 'depositId', descending: true, limit: FEW };
  const { words = [], terms = [] } = contains;
  // Folds each character alone, as the index of texts does: a sigma is the same at the end of a word.
  const patterns = words.map((word) => new RegExp(RegExp.escape(word), 'iu'));
  const found = deposits
    .find({ ...selection, ...before, ...order })
    .filter((row) => labels.every((label) => row.labels.includes(label)))
    .filter((row) => ids.every((id) => row.ids.includes(id)))
    .filter((row) => terms.every((term) => row.terms.includes(term)))
    .filter((row) => patterns.every((pattern) => pattern.test(row.words)));
  return pageOfFound(found, limit, 'depositId');
}

/** Returns whether a selection names a status that few deposits have, by the counters. */
function isOfFew(deposits: VisibleDeposits, { equal = {} }: Selection): boolean {
  const { client, collection, status } = equal as Readonly<Record<string, string>>;
  if (status === undefined) return false;
  return (deposits.counts({ client, collection }).get(status) ?? 0) <= FEW;
}

/** Returns a page of what was found, which is one more than the limit if others follow. */
function pageOfFound(
  found: readonly DepositSearchView[],
  limit: number,
  orderBy: 'changed' | 'depositId',
): Page {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { found: found.slice(0, limit), next: last?.[orderBy] ?? null, searchedTo: null };
}
