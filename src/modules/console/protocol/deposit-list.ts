import type { Status } from '../../../domain/deposit/status-detail.ts';

/** Parameters of an address that select deposits; all of them together must fit. */
const FILTERS = [
  'q',
  'status',
  'client',
  'collection',
  'origin',
  'reason',
  'swhid',
  'actor',
  'slug',
  'since',
  'until',
] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filter = Readonly<Partial<Record<FilterName, string>>>;

export function isFilterName(name: string): name is FilterName {
  return (FILTERS as readonly string[]).includes(name);
}

/** Returns the filter in the query of an address; parameters of other names and empty ones are ignored. */
export function filterIn(query: URLSearchParams): Filter {
  const given = FILTERS.map((name) => [name, query.get(name)?.trim() ?? ''] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

/**
 * Returns whether the list is in the order of the changes. Texts and labels are looked up in indexes that have the order of
 * the ids.
 */
export function isByChange({ since, until, q, reason, actor, slug, swhid }: Filter): boolean {
  const isByTime = since !== undefined || until !== undefined;
  return isByTime && [q, reason, actor, slug, swhid].every((value) => value === undefined);
}

/** One row of the list of deposits. */
export type DepositRow = {
  readonly depositId: number;
  /** Number of the last event of the deposit. */
  readonly revision: number;
  readonly title: string | null;
  readonly authors: readonly string[];
  readonly slug: string | null;
  readonly externalIdentifier: string | null;
  readonly client: string;
  readonly collection: string;
  /** `deleted` only in a list that was open then. */
  readonly status: Status | 'deleted';
  readonly statusDetail: string;
  readonly reasonCodes: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly origin: string | null;
  /** The SWHID of the directory, once the deposit is done. */
  readonly swhid: string | null;
};

/** Id, or time and id of the change, of the last deposit of a page. */
export type Cursor = number | string;

export type DepositPage = {
  readonly rows: readonly DepositRow[];
  /** Value of `before` for the next page; `null` on the last one. */
  readonly next: Cursor | null;
  /** How far a search has looked that stopped before the page was full; `next` continues there. */
  readonly searchedTo: Cursor | null;
  /** Numbers of deposits by status, for the same client and collection; `null` where other filters apply. */
  readonly counts: Readonly<Record<string, number>> | null;
};
