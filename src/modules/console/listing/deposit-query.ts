import { type DepositSearchView, labelOf, searchId } from '../../../../projections/deposit-search.ts';
import {
  type CoreSwhid,
  formatSwhid,
  InvalidSwhid,
  parseReference,
  type Swhid,
} from '../../../swhid/swhid.ts';
import type { ViewQuery } from '../../../views/view.ts';
import type { Cursor, DepositRow, Filter } from '../protocol/deposit-list.ts';
import { momentOf, notAMoment } from '../protocol/moment.ts';
import { ConsoleRefusal } from '../server/route.ts';
import { given } from './visible-deposits.ts';

/** Conditions on deposits, without an order. */
export type Selection = Pick<ViewQuery, 'equal' | 'contains' | 'labels' | 'ids' | 'from' | 'upTo'>;

/** Limits of a search: each word costs time for each deposit, in which the node serves no other request. */
const [MAX_WORDS, MAX_CHARACTERS] = [8, 256];

/** Fields that hold the identifier of an object, by its type in a SWHID. */
const OBJECT_FIELDS: Readonly<Record<string, string>> = {
  dir: 'directory',
  rev: 'revisionId',
  snp: 'snapshot',
};

/** Returns the query of the view for a filter. @throws {ConsoleRefusal} */
export function selectionOf(filter: Filter): Selection {
  const { status, client, collection, origin, since, until, swhid, reason, actor, slug, q = '' } = filter;
  const object = swhid === undefined ? undefined : objectIn(swhidIn(swhid));
  const owner = { client: client && searchable(client), collection: collection && searchable(collection) };
  const equal = { ...given({ ...owner, status, origin }), ...object?.equal };
  const words = wordsIn(q);
  const terms = reason === undefined ? [] : [` !${searchable(reason)} `];
  const labels = [
    ...(slug === undefined ? [] : [labelOf('slug', slug)]),
    ...(actor === undefined ? [] : [labelOf('actor', actor)]),
  ];
  return {
    equal,
    ...(labels.length > 0 && { labels }),
    // Many deposits may have one object: the index of texts is faster to look up words with.
    ...(words.length + terms.length > 0 ? { contains: { words, terms } } : object && { ids: object.ids }),
    ...(since !== undefined && { from: { field: 'changed', value: timeIn(since) } }),
    ...(until !== undefined && { upTo: { field: 'changed', value: `${timeIn(until)} ~` } }),
  };
}

/** Returns the words of a search, each once. @throws {ConsoleRefusal} */
function wordsIn(text: string): string[] {
  const words = [...new Set(searchable(text).split(/\s+/))].filter((word) => word !== '');
  if (words.length <= MAX_WORDS) return words;
  throw new ConsoleRefusal(400, 'SEARCH_TOO_LONG', `A search has at most ${MAX_WORDS} words.`);
}

/** Returns the text if a full-text search accepts it. U+0000 ends a query of SQLite. @throws {ConsoleRefusal} */
function searchable(text: string): string {
  if (text.includes('\0')) throw new ConsoleRefusal(400, 'BAD_TEXT', 'No text has the character U+0000.');
  if (text.length <= MAX_CHARACTERS) return text;
  const limit = `A search has at most ${MAX_CHARACTERS} characters.`;
  throw new ConsoleRefusal(400, 'SEARCH_TOO_LONG', limit);
}

/** Returns the value before which a page begins. */
export function cursorIn(text: string | null): Cursor | undefined {
  if (text === null) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z \d{15}$/.test(text)) return text;
  throw new ConsoleRefusal(400, 'BAD_CURSOR', 'The page cannot be continued from there.');
}

export function rowOf(view: DepositSearchView): DepositRow {
  const { depositId, revision, title, client, collection, status, statusDetail, reasonCodes } = view;
  const { createdAt, updatedAt, origin, directory, authors, slug, externalIdentifier } = view;
  const swhid = directory === null ? null : `swh:1:dir:${directory}`;
  const known = { depositId, revision, title, client, collection, status, statusDetail, reasonCodes };
  return { ...known, createdAt, updatedAt, origin, swhid, authors, slug, externalIdentifier };
}

/** Returns the conditions under which deposits have an object as a whole. @throws {ConsoleRefusal} */
export function objectIn(object: CoreSwhid): Pick<Required<Selection>, 'equal' | 'ids'> {
  const field = OBJECT_FIELDS[object.type];
  if (field !== undefined) return { equal: { [field]: object.id }, ids: [searchId(object.id)] };
  const text = `“${formatSwhid(object)}” is not a SWHID of a directory, revision or snapshot.`;
  throw new ConsoleRefusal(400, 'BAD_SWHID', text);
}

/** @throws {ConsoleRefusal} */
export function swhidIn(text: string): Swhid {
  try {
    return parseReference(text);
  } catch (error) {
    if (error instanceof InvalidSwhid) throw new ConsoleRefusal(400, 'BAD_SWHID', error.message);
    throw error;
  }
}

/** Returns the time in the form in which events have it. */
function timeIn(text: string): string {
  const time = momentOf(text);
  if (time === undefined) throw new ConsoleRefusal(400, 'BAD_TIME', notAMoment(text));
  const stored = new Date(time).toISOString();
  if (/^\d{4}-/.test(stored)) return stored;
  throw new ConsoleRefusal(400, 'BAD_TIME', `“${text}” is not in one of the years 0 to 9999 in UTC.`);
}
