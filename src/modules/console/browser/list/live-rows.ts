import { useEffect, useState } from 'preact/hooks';
import { type DepositPage, type DepositRow, type Filter, isByChange } from '../../protocol/deposit-list.ts';
import type { LiveChange } from '../../protocol/live-change.ts';
import { useChanges } from '../live.ts';

/**
 * Returns the rows as they are now, and how many other deposits may belong to the page since it was read, up to
 * {@link MAX_NEWER}. Rows change in place: none moves while it is read.
 */
export function useLiveRows(
  data: DepositPage | undefined,
  filter: Filter,
): { readonly rows: readonly DepositRow[]; readonly newer: number } {
  const [changes, setChanges] = useState<ReadonlyMap<number, LiveChange>>(new Map());
  const [newer, setNewer] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setNewer(new Set()), [data]);
  useChanges(
    (change) => {
      setChanges((known) => withChange(known, change, data?.rows ?? []));
      setNewer((ids) => withMembership(ids, change.depositId, isNewer(change.row, data, filter)));
    },
    [data, new URLSearchParams(filter).toString()],
  );
  const rows = (data?.rows ?? []).map((row) => {
    const change = changes.get(row.depositId);
    if (!change || (change.row ?? change).revision <= row.revision) return row;
    return change.row ?? { ...row, status: 'deleted' as const };
  });
  return { rows, newer: newer.size };
}

/** Returns whether a deposit is not on the first page of a list, but may be once it is read again. */
function isNewer(row: DepositRow | null, data: DepositPage | undefined, filter: Filter): boolean {
  if (!row || !mayMatch(row, filter)) return false;
  const shown = data?.rows ?? [];
  if (shown.some(({ depositId }) => depositId === row.depositId)) return false;
  return isByChange(filter) || !data || data.next === null || row.depositId > (shown.at(-1)?.depositId ?? 0);
}

/** Returns whether a deposit matches the filter, as far as its row says: words, SWHIDs, actors and times are not compared. */
function mayMatch(row: DepositRow, { status, client, collection, origin, slug, reason }: Filter): boolean {
  const wanted = { status, client, collection, origin, slug };
  const isWanted = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row[name as keyof typeof wanted] === value,
  );
  return isWanted && (reason === undefined || row.reasonCodes.includes(reason));
}

function withMembership(ids: ReadonlySet<number>, id: number, isIn: boolean): ReadonlySet<number> {
  if (ids.has(id) === isIn || (isIn && ids.size >= MAX_NEWER)) return ids;
  return new Set(isIn ? [...ids, id] : [...ids].filter((other) => other !== id));
}

/** Maximum number of deposits that are counted as new: a page may be open for days. */
export const MAX_NEWER = 1000;

/** Maximum number of changes that are kept of deposits that are not shown: rows that are being read may have them. */
const MAX_KEPT = 200;

/** Adds the newest change of a deposit, and drops the oldest ones of deposits that are not shown. */
function withChange(
  known: ReadonlyMap<number, LiveChange>,
  change: LiveChange,
  rows: readonly DepositRow[],
): ReadonlyMap<number, LiveChange> {
  const after = new Map(known);
  after.delete(change.depositId);
  after.set(change.depositId, change);
  const shown = new Set(rows.map(({ depositId }) => depositId));
  for (const id of after.keys()) {
    if (after.size <= MAX_KEPT) break;
    if (!shown.has(id)) after.delete(id);
  }
  return after;
}
