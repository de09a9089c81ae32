import { type DepositSearchView, searchId } from '../../../../projections/deposit-search.ts';
import type { ResolvedObject, Resolver } from '../../../contents/resolver.ts';
import { escapePath } from '../../../swhid/escape-path.ts';
import type { Swhid } from '../../../swhid/swhid.ts';
import { clock } from '../../../tools/clock.ts';
import type { ViewQuery } from '../../../views/view.ts';
import { objectIn } from './deposit-query.ts';
import type { VisibleDeposits } from './visible-deposits.ts';

/** Limits of a search for an object: the newest deposits and their trees, and milliseconds. */
const [MAX_DEPOSITS, MAX_TREES, MAX_SEARCH_MS] = [500, 100, 3000];

export type FoundInside = {
  /** Deposits with the tree that contains the object. */
  readonly deposits: readonly DepositSearchView[];
  /** Path within the tree. */
  readonly path: string | null;
  /** Says in a sentence what was not searched. */
  readonly limit: string | null;
};

/**
 * Finds a file or directory inside of loaded deposits. Events do not name it, so that manifests are searched: those of the
 * deposits that the qualifiers name, else of the newest trees. Ends after a time.
 */
export async function findInside(
  deposits: VisibleDeposits,
  resolver: Pick<Resolver, 'resolve'>,
  swhid: Swhid,
  limit: number,
  signal: AbortSignal,
): Promise<FoundInside> {
  const { anchor, visit, origin } = swhid.qualifiers;
  const named = [anchor, visit].flatMap((object) => (object ? [objectIn(object)] : []));
  const equal = Object.assign(
    { status: 'done' },
    ...named.map((object) => object.equal),
    origin !== undefined && { origin },
  );
  const ids = named.flatMap((object) => object.ids);
  const trees = new Map<string, DepositSearchView>();
  const rows = deposits.find({ equal, ...newest(ids), limit: MAX_DEPOSITS + 1 });
  for (const row of rows.slice(0, MAX_DEPOSITS))
    if (row.directory !== null && !trees.has(row.directory)) trees.set(row.directory, row);
  const end = clock.monotonic() + MAX_SEARCH_MS;
  let searched = 0;
  for (const [directory, row] of trees) {
    if (searched === MAX_TREES || clock.monotonic() > end) {
      const text = `Only the ${searched} newest trees were searched: add ;origin= or ;anchor= to the SWHID.`;
      return { deposits: [], path: null, limit: text };
    }
    searched += 1;
    const found = await objectInside(row, resolver, swhid, signal);
    if (!found || !('path' in found.place)) continue;
    return {
      deposits: deposits.find({ equal: { directory }, ...newest([searchId(directory)]), limit }),
      path: escapePath(found.place.path),
      limit: null,
    };
  }
  if (rows.length <= MAX_DEPOSITS) return { deposits: [], path: null, limit: null };
  const text = `Only the ${MAX_DEPOSITS} newest deposits were searched: add ;anchor= to the SWHID.`;
  return { deposits: [], path: null, limit: text };
}

/** Resolves to a file or directory in a deposit; `undefined` if the deposit is not loaded, or has none at its path. */
export async function objectInside(
  { client, collection, revisionId }: DepositSearchView,
  resolver: Pick<Resolver, 'resolve'>,
  swhid: Swhid,
  signal?: AbortSignal,
): Promise<ResolvedObject | undefined> {
  if (revisionId === null) return undefined;
  const { path } = swhid.qualifiers;
  const anchor = { type: 'rev', id: revisionId } as const;
  const qualifiers = { anchor, ...(path !== undefined && { path }) };
  return resolver.resolve({ client, collections: [collection] }, [{ ...swhid, qualifiers }], signal);
}

/** Returns the conditions for the newest deposits first, with these ids if there are any. */
function newest(ids: readonly string[]): Pick<ViewQuery, 'ids' | 'orderBy' | 'descending'> {
  return ids.length > 0
    ? { ids, orderBy: 'key', descending: true }
    : { orderBy: 'depositId', descending: true };
}
