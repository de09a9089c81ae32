import type { ViewQuery } from '../view.ts';
import { expression, indexOf, labelsOf, quoted, textsOf } from './view-schema.ts';

type Conditions = Omit<ViewQuery, 'limit'>;
type Lookup = Pick<ViewQuery, 'contains' | 'labels'>;
type Sql = { readonly sql: string; readonly values: readonly (string | number)[] };

/** Returns the part of a query after `FROM`, and its parameters. */
export function selection(view: string, query: Conditions): Sql {
  const { index, equal = {}, among, from, upTo, before, lowestKey } = query;
  const atLeast = lowestKey === undefined ? undefined : { field: 'key', value: lowestKey };
  const bounds = [
    [from, '>='],
    [atLeast, '>='],
    [upTo, '<='],
    [before, '<'],
  ] as const;
  const given = bounds.flatMap(([bound, operator]) => (bound ? [[bound, operator] as const] : []));
  const lookup = lookupOf(view, query);
  const using = index ? `INDEXED BY ${indexOf(view, index)}` : '';
  const table = quoted(view);
  // Both indexes find their rows in the order of the keys: a page of many matches ends after as many as it has.
  const tables = lookup
    ? `${lookup.table} CROSS JOIN ${table} ON ${table}.key = CAST(${lookup.id} AS TEXT)`
    : `${table} ${using}`;
  const conditions = [
    ...Object.keys(equal).map((field) => `${expression(field)} = ?`),
    ...(among ? [`${expression(among.field)} IN (${among.values.map(() => '?').join()})`] : []),
    ...given.map(
      ([{ field }, operator]) => `${ordering(view, field, query)} ${operator} ${parameter(field, lookup)}`,
    ),
    ...(lookup ? [lookup.sql] : []),
  ];
  return {
    sql: `${tables} WHERE ${conditions.join(' AND ') || 'TRUE'}`,
    values: [
      ...Object.values(equal),
      ...(among?.values ?? []),
      ...given.map(([{ value }]) => value),
      ...(lookup ? lookup.values : []),
    ],
  };
}

/** Returns the query for the key of the candidate at a place, and its parameters. @see View.candidateAt */
export function candidateQuery(view: string, { before, descending, ...query }: Conditions): Sql | undefined {
  const lookup = lookupOf(view, query);
  if (!lookup) return undefined;
  const bound = before?.field === 'key' ? ` AND ${lookup.id} < ${parameter('key', lookup)}` : '';
  return {
    sql: `SELECT ${lookup.id} AS id FROM ${lookup.table} WHERE ${lookup.sql}${bound} ORDER BY ${lookup.id} ${descending ? 'DESC' : 'ASC'} LIMIT 1 OFFSET ?`,
    values: [...lookup.values, ...(before && bound !== '' ? [before.value] : [])],
  };
}

/**
 * Returns the parameter to compare a field with. Numbers of JavaScript arrive as floating point, and FTS5 uses bounds
 * of its keys only if they are integers: it would read all matches.
 */
function parameter(field: string, lookup: object | undefined): string {
  return field === 'key' && lookup ? 'CAST(? AS INTEGER)' : '?';
}

/** Returns the value by which a query orders: a field, or `key` for the number that is the key. */
export function ordering(view: string, field: string, query: Lookup): string {
  if (field !== 'key') return expression(field);
  return lookupOf(view, query)?.id ?? 'CAST(key AS INTEGER)';
}

/** Returns the table that knows the keys of what has the texts and labels, with the column of the keys. */
function lookupOf(
  view: string,
  { contains = {}, labels = [] }: Lookup,
): (Sql & { readonly table: string; readonly id: string }) | undefined {
  const [match, texts, table] = [matchOf(contains), textsOf(view), labelsOf(view)];
  const has = (id: string) =>
    `EXISTS (SELECT 1 FROM ${table} AS other WHERE other.label = ? AND other.id = ${id})`;
  if (match === '') {
    const [first, ...others] = labels;
    if (first === undefined) return undefined;
    const id = `${table}.id`;
    const conditions = [`${table}.label = ?`, ...others.map(() => has(id))];
    return { table, id, sql: conditions.join(' AND '), values: labels };
  }
  const id = `${texts}.rowid`;
  const conditions = [`${texts} MATCH ?`, ...labels.map(() => has(id))];
  return { table: texts, id, sql: conditions.join(' AND '), values: [match, ...labels] };
}

/** Returns the query of FTS5 for texts, each within the field that is named. */
function matchOf(contains: NonNullable<ViewQuery['contains']>): string {
  const conditions = Object.entries(contains).flatMap(([field, texts]) =>
    texts.map((text) => `{${quoted(field)}} : "${text.replaceAll('"', '""')}"`),
  );
  return conditions.join(' AND ');
}
