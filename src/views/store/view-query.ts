import { normalForms } from '../normal-forms.ts';
import type { ViewQuery } from '../view.ts';
import { expression, indexOf, lookupTable, quoted } from './view-schema.ts';

/** A view, with the fields that are columns of its table: their indexes are of these columns. */
type QueriedView = { readonly name: string; readonly columns: ReadonlySet<string> };
type Conditions = Omit<ViewQuery, 'limit'>;
type Lookup = Pick<ViewQuery, 'contains' | 'labels' | 'ids'>;
type Contains = NonNullable<ViewQuery['contains']>;
type Sql = { readonly sql: string; readonly values: readonly (string | number)[] };

/** Returns the part of a query after `FROM`, and its parameters. */
export function selection(queried: QueriedView, query: Conditions): Sql {
  const { name: view } = queried;
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
  const short = shortTextConditions(queried, query.contains);
  const using = index ? `INDEXED BY ${indexOf(view, index)}` : '';
  const table = quoted(view);
  // Each of these indexes finds its rows in the order of the keys: a page of many matches ends after as many as it has.
  const tables = lookup
    ? `${lookup.table} CROSS JOIN ${table} ON ${table}.key = CAST(${lookup.id} AS TEXT)`
    : `${table} ${using}`;
  const conditions = [
    ...Object.keys(equal).map((field) => `${valueOf(queried, field)} = ?`),
    ...(among ? [`${valueOf(queried, among.field)} IN (${among.values.map(() => '?').join()})`] : []),
    ...given.map(
      ([{ field }, operator]) => `${ordering(queried, field, query)} ${operator} ${parameter(field, lookup)}`,
    ),
    ...(lookup ? [lookup.sql] : []),
    ...short.map(({ sql }) => sql),
  ];
  return {
    sql: `${tables} WHERE ${conditions.join(' AND ') || 'TRUE'}`,
    values: [
      ...Object.values(equal),
      ...(among?.values ?? []),
      ...given.map(([{ value }]) => value),
      ...(lookup ? lookup.values : []),
      ...short.flatMap(({ values }) => values),
    ],
  };
}

/** Returns the query for the candidate at a place, and its parameters. @see View.candidateAt */
export function candidateQuery(queried: QueriedView, query: Conditions): Sql | undefined {
  const { before, descending } = query;
  const lookup = lookupOf(queried.name, query);
  if (!lookup) return candidateOfIndex(queried, query);
  const bound = before?.field === 'key' ? ` AND ${lookup.id} < ${parameter('key', lookup)}` : '';
  return {
    sql: `SELECT ${lookup.id} AS id FROM ${lookup.table} WHERE ${lookup.sql}${bound} ORDER BY ${lookup.id} ${descending ? 'DESC' : 'ASC'} LIMIT 1 OFFSET ?`,
    values: [...lookup.values, ...(before && bound !== '' ? [before.value] : [])],
  };
}

function candidateOfIndex(
  queried: QueriedView,
  { index, equal = {}, orderBy, descending, ...bounds }: Conditions,
): Sql | undefined {
  if (!index || orderBy === undefined) return undefined;
  const { from, upTo, before } = bounds;
  const isIn = (bound: ViewQuery['from']) => bound && index.includes(bound.field);
  const { sql, values } = selection(queried, {
    index,
    equal: Object.fromEntries(Object.entries(equal).filter(([field]) => index.includes(field))),
    ...(from && isIn(from) && { from }),
    ...(upTo && isIn(upTo) && { upTo }),
    ...(before && isIn(before) && { before }),
  });
  const value = ordering(queried, orderBy, {});
  return {
    sql: `SELECT ${value} AS id FROM ${sql} ORDER BY ${value} ${descending ? 'DESC' : 'ASC'} LIMIT 1 OFFSET ?`,
    values,
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
export function ordering(view: QueriedView, field: string, query: Lookup): string {
  if (field !== 'key') return valueOf(view, field);
  return lookupOf(view.name, query)?.id ?? 'CAST(key AS INTEGER)';
}

function valueOf({ columns }: QueriedView, field: string): string {
  if (field === 'key') return 'key';
  return columns.has(field) ? quoted(field) : expression(field);
}

/** A condition that an index knows the keys for. */
type Indexed = Sql & { readonly table: string; readonly id: string };

/** Returns the table that knows the keys of what has the ids, texts and labels, with the column of the keys. */
function lookupOf(view: string, { contains = {}, labels = [], ids = [] }: Lookup): Indexed | undefined {
  const texts = lookupTable(view, 'texts');
  const indexed = [
    ...matchIn(lookupTable(view, 'ids'), ids.map(phrase)),
    ...matchIn(texts, textConditions(contains)),
    ...labels.map((label, index) => labelIn(view, label, `label${index}`)),
  ];
  const all = { table: texts, id: `${texts}.rowid`, sql: 'TRUE', values: [] };
  const [first, ...others] = indexed.length === 0 && Object.keys(contains).length > 0 ? [all] : indexed;
  if (first === undefined) return undefined;
  const has = ({ table, id, sql }: Indexed) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${sql} AND ${id} = ${first.id})`;
  return {
    ...first,
    sql: [first.sql, ...others.map(has)].join(' AND '),
    values: [...first.values, ...others.flatMap(({ values }) => values)],
  };
}

/** Returns the condition of an index of FTS5, if there is any. */
function matchIn(table: string, conditions: readonly string[]): readonly Indexed[] {
  if (conditions.length === 0) return [];
  return [{ table, id: `${table}.rowid`, sql: `${table} MATCH ?`, values: [conditions.join(' AND ')] }];
}

function labelIn(view: string, label: string, alias: string): Indexed {
  return {
    table: `${lookupTable(view, 'labels')} AS ${alias}`,
    id: `${alias}.id`,
    sql: `${alias}.label = ?`,
    values: [label],
  };
}

/** Returns the conditions of FTS5 for texts, each within the field that is named. */
function textConditions(contains: Contains): readonly string[] {
  return Object.entries(contains).flatMap(([field, texts]) =>
    texts
      .filter((text) => !isShort(text))
      .map((text) => `{${quoted(field)}} : (${normalForms(text).map(phrase).join(' OR ')})`),
  );
}

/** Returns the conditions for the texts that are too short for the index: each value is looked at. */
function shortTextConditions(view: QueriedView, contains: Contains = {}): readonly Sql[] {
  return Object.entries(contains).flatMap(([field, texts]) =>
    texts.filter(isShort).map((text) => {
      const values = normalForms(text).flatMap(patternsOf);
      return {
        sql: `(${values.map(() => `${valueOf(view, field)} LIKE ? ESCAPE '\\'`).join(' OR ')})`,
        values,
      };
    }),
  );
}

/** Returns whether a text is too short for the index of texts, which has all sequences of three characters. */
function isShort(text: string): boolean {
  return normalForms(text).some((form) => Array.from(form).length < 3);
}

/** Returns the patterns of LIKE for a text in any case. LIKE itself ignores the case of ASCII, and is faster than GLOB. */
function patternsOf(text: string): readonly string[] {
  let patterns = ['%'];
  for (const character of text)
    patterns = patterns.flatMap((before) => casesOf(character).map((one) => before + one));
  return patterns.map((pattern) => `${pattern}%`);
}

/** Returns the cases of a character that LIKE distinguishes. */
function casesOf(character: string): readonly string[] {
  if (/[%_\\]/.test(character)) return [`\\${character}`];
  if (/[ -~]/.test(character)) return [character];
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  return [...new Set(cases.filter((one) => Array.from(one).length === 1))];
}

/** Returns a text for FTS5, whose operators are plain text in it. */
function phrase(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
