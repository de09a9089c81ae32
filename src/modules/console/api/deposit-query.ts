import { type DepositSearchView, DIGEST_CHARACTERS } from '../../../../projections/deposit-search.ts';
import { SHORTEST_TEXT, type ViewQuery } from '../../../views/view.ts';
import type { Cursor, DepositRow, Filter } from '../protocol/deposit-list.ts';
import { ConsoleRefusal } from '../server/route.ts';
import type { VisibleDeposits } from './visible-deposits.ts';

const IDS_AT_ONCE = 1000;

type Selection = Omit<ViewQuery, 'limit'>;

/** Fields that hold the identifier of an object, by its type in a SWHID. */
const OBJECT_FIELDS: Readonly<Record<string, string>> = {
  dir: 'directory',
  rev: 'revisionId',
  snp: 'snapshot',
};

/** Returns the query of the view for a filter. @throws {ConsoleRefusal} */
export function selectionOf(filter: Filter): Selection {
  const { status, client, collection, origin, since, until, swhid, reason, q = '' } = filter;
  const equal = {
    ...(client !== undefined && { client }),
    ...(status !== undefined && { status }),
    ...(collection !== undefined && { collection }),
    ...(origin !== undefined && { origin }),
    ...(swhid !== undefined && objectIn(swhid)),
  };
  const words = q.split(/\s+/).filter((word) => word !== '');
  const short = words.find((word) => Array.from(word).length < SHORTEST_TEXT);
  if (short !== undefined) {
    const text = `“${short}” is too short: a word to search for has at least ${SHORTEST_TEXT} characters.`;
    throw new ConsoleRefusal(400, 'WORD_TOO_SHORT', text);
  }
  const terms = reason === undefined ? [] : [` !${reason} `];
  return {
    equal,
    ...(words.length + terms.length > 0 && { contains: { words, terms } }),
    ...(since !== undefined && { from: { field: 'changed', value: timeIn(since) } }),
    ...(until !== undefined && { upTo: { field: 'changed', value: `${timeIn(until)} ~` } }),
  };
}

/** Returns the field by which a selection is ordered: that of its index. */
function orderOf({ contains, from, upTo }: Selection): 'key' | 'changed' | 'depositId' {
  if (contains) return 'key';
  return from || upTo ? 'changed' : 'depositId';
}

/** Returns the deposits of a page, the newest first, or those changed last for a selection by times. */
export function pageOf(
  deposits: VisibleDeposits,
  selection: Selection,
  cursor: Cursor | undefined,
  limit: number,
): { readonly rows: readonly DepositRow[]; readonly next: Cursor | null } {
  const orderBy = orderOf(selection);
  const found = deposits.find({
    ...selection,
    ...(cursor !== undefined && { before: { field: orderBy, value: cursor } }),
    orderBy,
    descending: true,
    limit: limit + 1,
  });
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    rows: found.slice(0, limit).map(rowOf),
    next: last === undefined ? null : orderBy === 'changed' ? last.changed : last.depositId,
  };
}

/** Returns the value before which a page begins. */
export function cursorIn(text: string | null): Cursor | undefined {
  if (text === null) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z \d{15}$/.test(text)) return text;
  throw new ConsoleRefusal(400, 'BAD_CURSOR', 'The page has no such continuation.');
}

/** Returns the term by which deposits with an archive of this digest are found; others may have the same beginning. */
export function archiveTerm(sha256: string): string {
  return ` #${sha256.slice(0, DIGEST_CHARACTERS)} `;
}

/** Returns the ids of all deposits of a selection, the oldest first. */
export function allIds(deposits: VisibleDeposits, selection: Selection): readonly number[] {
  const ids: number[] = [];
  for (let before: Cursor | undefined; ; ) {
    const { rows, next } = pageOf(deposits, selection, before, IDS_AT_ONCE);
    ids.push(...rows.map(({ depositId }) => depositId));
    if (next === null) return ids.toReversed();
    before = next;
  }
}

export function rowOf(view: DepositSearchView): DepositRow {
  const { depositId, revision, title, client, collection, status, statusDetail, reasonCodes } = view;
  const { createdAt, updatedAt, origin, directory } = view;
  const swhid = directory === null ? null : `swh:1:dir:${directory}`;
  const known = { depositId, revision, title, client, collection, status, statusDetail, reasonCodes };
  return { ...known, createdAt, updatedAt, origin, swhid };
}

function objectIn(swhid: string): Readonly<Record<string, string>> {
  const [, type = '', id = ''] = /^swh:1:([a-z]{3}):([0-9a-f]{40})(?:;.*)?$/.exec(swhid) ?? [];
  const field = OBJECT_FIELDS[type];
  if (field !== undefined) return { [field]: id };
  const text = `“${swhid}” is no SWHID of a directory, revision or snapshot.`;
  throw new ConsoleRefusal(400, 'BAD_SWHID', text);
}

/** Returns the time in the form in which events have it. */
function timeIn(text: string): string {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new ConsoleRefusal(400, 'BAD_TIME', `“${text}” is no time such as 2026-03-01T10:00:00Z.`);
}
