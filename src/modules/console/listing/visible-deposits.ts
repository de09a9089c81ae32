import { type DepositSearchView, labelOf } from '../../../../projections/deposit-search.ts';
import type { View, ViewQuery } from '../../../views/view.ts';
import type { Viewer } from '../access/sessions.ts';
import { notFoundHere } from '../server/route.ts';

type Owner = Pick<DepositSearchView, 'client' | 'collection'>;
type Equal = NonNullable<ViewQuery['equal']>;

/**
 * The deposits that exist for a viewer. All routes read deposits through it, so that this is the only place that decides
 * what a viewer may see.
 */
export class VisibleDeposits {
  readonly #view: View<DepositSearchView>;
  readonly #scope: Viewer['scope'];

  constructor(view: View<DepositSearchView>, { scope }: Pick<Viewer, 'scope'>) {
    this.#view = view;
    this.#scope = scope;
  }

  /** Resolves to the deposits for queries. @see View.settled */
  async settled(): Promise<VisibleDeposits> {
    return new VisibleDeposits(await this.#view.settled(), { scope: this.#scope });
  }

  /** Returns whether the viewer may see the deposits of this client in this collection. */
  includes({ client, collection }: Owner): boolean {
    return !this.#scope || (this.#scope.client === client && this.#scope.collections.includes(collection));
  }

  /** Returns the row of a deposit, if it exists for the viewer. */
  get(id: string): DepositSearchView | undefined {
    const row = /^[1-9]\d{0,15}$/.test(id) ? this.#view.get(id) : undefined;
    return row && this.includes(row) ? row : undefined;
  }

  /** Returns the row of a deposit. @throws {ConsoleRefusal} it does not exist for the viewer */
  existing(id = ''): DepositSearchView {
    const row = this.get(id);
    if (row) return row;
    throw notFoundHere(`Deposit ${id} not found.`);
  }

  /** Returns whether the viewer may search by these labels: depositors may not guess the names of staff who acted. */
  mayAskFor(labels: readonly string[] = []): boolean {
    const scope = this.#scope;
    if (!scope) return true;
    const own = labelOf('actor', scope.client);
    return labels.every((label) => label === own || !label.startsWith(labelOf('actor', '')));
  }

  find(query: ViewQuery): DepositSearchView[] {
    const parts = this.#queries(query).map((one) => this.#view.find(one));
    if (parts.length < 2) return parts[0] ?? [];
    return merged(parts, query).slice(0, query.limit);
  }

  /** Returns the index that has what the viewer sees in the order of the changes. */
  indexOfChanges({ equal = {} }: Pick<ViewQuery, 'equal'>): readonly string[] {
    return this.#scope || 'client' in equal ? ['client', 'changed'] : ['changed'];
  }

  /** @see View.candidateAt */
  candidateAt(query: Omit<ViewQuery, 'limit'>, place: number): number | string | undefined {
    const [only] = this.#queries(query); // candidates have texts, labels, ids or times, so it is one query
    return only && this.#view.candidateAt(only, place);
  }

  /** Counts the deposits with these fields by their status; those that are `undefined` may have any value. */
  counts(owner: { readonly [Name in keyof Owner]?: string | undefined } = {}): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const part of this.#within(given(owner)))
      for (const [status, count] of this.#view.counts(part as Readonly<Partial<Owner>>))
        counts.set(status, (counts.get(status) ?? 0) + count);
    return counts;
  }

  /**
   * Returns the queries for what the viewer sees. A search, or a selection by times, is one query: it looks at each
   * deposit in any case, and more of them would look again and again.
   */
  #queries<Query extends Omit<ViewQuery, 'limit'>>(query: Query): readonly Query[] {
    const { contains, labels, ids, from, upTo } = query;
    const within = this.#within(query.equal);
    const isScan = [contains, labels, ids, from, upTo].some((condition) => condition !== undefined);
    const [first, ...others] = within;
    if (!isScan || !first || others.length === 0) return within.map((equal) => withEqual(query, equal));
    const { collection: _, ...equal } = first;
    const among = { field: 'collection', values: within.map(({ collection }) => String(collection)) };
    return [{ ...withEqual(query, equal), among }];
  }

  /**
   * Returns the conditions under which the viewer sees what has these values: that of the client if it has no deposits in
   * other collections, else one for each collection; none for another client.
   */
  #within(equal: Equal = {}): readonly Equal[] {
    if (!this.#scope) return [equal];
    const { client, collections } = this.#scope;
    if ((equal['client'] ?? client) !== client) return [];
    const wanted = equal['collection'];
    const granted = collections
      .filter((collection) => wanted === undefined || collection === wanted)
      .map((collection) => ({ client, collection, count: this.#sum({ client, collection }) }))
      .filter(({ count }) => count > 0);
    const count = granted.reduce((sum, one) => sum + one.count, 0);
    if (wanted === undefined && count > 0 && count === this.#sum({ client })) return [{ ...equal, client }];
    return granted.map(({ collection }) => ({ ...equal, client, collection }));
  }

  #sum(owner: Readonly<Partial<Owner>>): number {
    return this.#view
      .counts(owner)
      .values()
      .reduce((sum, count) => sum + count, 0);
  }
}

/** Returns the members of an object that are not `undefined`. */
export function given<Value>(members: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  const entries = Object.entries(members);
  return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

/** Adds conditions. The index of texts knows client and collection as well, so that it need not look at other deposits. */
function withEqual<Query extends Omit<ViewQuery, 'limit'>>(query: Query, equal: Equal): Query {
  const { contains } = query;
  if (!contains) return { ...query, equal };
  const owner = [
    ...('client' in equal ? [` @${equal['client']} `] : []),
    ...('collection' in equal ? [` /${equal['collection']} `] : []),
  ];
  return { ...query, equal, contains: { ...contains, terms: [...(contains['terms'] ?? []), ...owner] } };
}

/** Returns all rows in the order of the query. */
function merged(
  parts: readonly (readonly DepositSearchView[])[],
  { orderBy = 'key', descending = false }: ViewQuery,
): DepositSearchView[] {
  const sign = descending ? -1 : 1;
  const valueOf = (row: DepositSearchView) => (orderBy === 'changed' ? row.changed : row.depositId);
  return parts.flat().toSorted((one, other) => (valueOf(one) < valueOf(other) ? -sign : sign));
}
