import { type DepositSearchView, depositSearch } from '../../../../projections/deposit-search.ts';
import { clock } from '../../../tools/clock.ts';
import { normalForms } from '../../../views/normal-forms.ts';
import type { ViewQuery } from '../../../views/view.ts';
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

type Conditions = Selection & Pick<ViewQuery, 'before' | 'lowestKey'>;

type Page = Pick<DepositPage, 'next' | 'searchedTo'> & { readonly found: readonly DepositSearchView[] };

/** Numbers of candidates that are examined at once: few at first, since most searches fill a page with them. */
const [FIRST_CANDIDATES, MAX_CANDIDATES] = [500, 4000];
/** Milliseconds after which a search stops, between two numbers of candidates. */
const MAX_SEARCH_MS = 40;
/** Deposits that are all read: those of a status without the index of texts, which does not know the status. */
const FEW = 500;
/** Ids that are read at once, between other requests. */
const IDS_AT_ONCE = 500;

/**
 * Returns the deposits of a page: the newest first, or those changed last for a selection by times alone. A search by texts,
 * labels and ids, or by times, ends after a time, with what it has found until then.
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

function listed(asked: Asked): Page {
  const { deposits, selection, cursor, limit } = asked;
  const isByTime = selection.from !== undefined || selection.upTo !== undefined;
  const index = isByTime ? indexOfFew(deposits, selection) : undefined;
  if (isByTime && !index) return inSteps(asked, 'changed');
  const orderBy = isByTime ? 'changed' : 'depositId';
  const before = cursor === undefined ? {} : { before: { field: orderBy, value: cursor } };
  const order = { orderBy, descending: true, limit: limit + 1 };
  const found = deposits.find({ ...selection, ...(index && { index }), ...before, ...order });
  return pageOfFound(found, limit, orderBy);
}

/** Returns an index by which few deposits have the values of a selection: they are faster to sort than to look for. */
function indexOfFew(deposits: VisibleDeposits, selection: Selection): readonly string[] | undefined {
  const { equal = {} } = selection;
  return depositSearch.indexes?.find(
    (index) =>
      index.length > 1 &&
      index.every((field) => field === 'depositId' || field in equal) &&
      deposits.candidateAt({ ...selection, index, orderBy: 'depositId' }, FEW) === undefined,
  );
}

function searched(asked: Asked): Page {
  return isOfFew(asked.deposits, asked.selection) ? searchedInFew(asked) : inSteps(asked, 'key');
}

/** Examines a number of candidates at a time, until the page is full or the search takes too long. */
function inSteps({ deposits, selection, cursor, limit }: Asked, orderBy: 'key' | 'changed'): Page {
  const found: DepositSearchView[] = [];
  const end = clock.monotonic() + MAX_SEARCH_MS;
  const index = orderBy === 'changed' && { index: deposits.indexOfChanges(selection) };
  let [before, candidates] = [cursor, FIRST_CANDIDATES];
  for (;;) {
    const query = { ...startingBefore(selection, orderBy, before), ...index, orderBy, descending: true };
    const last = deposits.candidateAt(query, candidates - 1);
    const within = last === undefined ? {} : downTo(last);
    found.push(...deposits.find({ ...query, ...within, limit: limit + 1 - found.length }));
    if (found.length > limit || last === undefined)
      return pageOfFound(found, limit, orderBy === 'key' ? 'depositId' : orderBy);
    if (clock.monotonic() > end) return { found, next: last, searchedTo: last };
    [before, candidates] = [last, Math.min(candidates * 2, MAX_CANDIDATES)];
  }
}

/** Returns the selection before a value. SQLite uses one upper bound of an index: the lower one replaces the other. */
function startingBefore(
  selection: Selection,
  field: 'key' | 'changed',
  before: Cursor | undefined,
): Conditions {
  const { upTo, ...others } = selection;
  if (before === undefined || (field === 'changed' && upTo && upTo.value < before)) return selection;
  return { ...(field === 'key' ? selection : others), before: { field, value: before } };
}

/** Returns the lower bound of a step. That of a time replaces the bound of the selection, as above. */
function downTo(last: Cursor): Conditions {
  return typeof last === 'number' ? { lowestKey: last } : { from: { field: 'changed', value: last } };
}

/** Reads all deposits that the fields select, and examines their texts. */
function searchedInFew({ deposits, selection: conditions, cursor, limit }: Asked): Page {
  const { contains = {}, labels = [], ids = [], ...selection } = conditions;
  const before = cursor === undefined ? {} : { before: { field: 'depositId', value: cursor } };
  const order = { orderBy: 'depositId', descending: true, limit: FEW };
  const { words = [], terms = [] } = contains;
  // Folds each character alone, as the index of texts does: a sigma is the same at the end of a word.
  const patterns = words.map((word) => {
    const forms = normalForms(word).map((form) => RegExp.escape(form));
    return new RegExp(forms.join('|'), 'iu');
  });
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
