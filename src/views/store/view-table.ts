import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMIT } from '../../tools/sqlite/limit.ts';
import type { View, ViewQuery } from '../view.ts';
import { candidateQuery, ordering, selection } from './view-query.ts';
import { countedFields, lookupTable, quoted, storedFields } from './view-schema.ts';

const PAGE = 500;

/** A view as it is stored: JSON under its key. */
export type ViewRow = { readonly key: string; readonly view: string };

/** Reads one view of a file, as it is written there. */
export class ViewTable implements Omit<View<unknown>, 'settled' | 'values'> {
  readonly #database: DatabaseSync;
  readonly #name: string;
  /** Looked up at the first use. */
  #countedBy: readonly string[] | undefined;
  #columns: ReadonlySet<string> | undefined;
  /** Prepared statements by their SQL text: queries repeat in few forms. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, name: string) {
    this.#database = database;
    this.#name = name;
  }

  lookupsChanged(): void {
    [this.#countedBy, this.#columns] = [undefined, undefined];
  }

  get size(): number {
    return Number(this.#statement(`SELECT count(*) AS size FROM ${quoted(this.#name)}`).get()?.['size']);
  }

  /** The number of the last row, for {@link rowFrom}; 0 without rows. */
  get lastRow(): number {
    return Number(
      this.#statement(`SELECT max(rowid) AS last FROM ${quoted(this.#name)}`).get()?.['last'] ?? 0,
    );
  }

  /** Returns the first row from this number on. */
  rowFrom(number: number): ViewRow | undefined {
    const sql = `SELECT key, view FROM ${quoted(this.#name)} WHERE rowid >= ? ORDER BY rowid LIMIT 1`;
    return this.#statement(sql).get(number) as ViewRow | undefined; // STRICT
  }

  get(key: string): unknown {
    const row = this.#statement(`SELECT view FROM ${quoted(this.#name)} WHERE key = ?`).get(key);
    return row && JSON.parse(row['view'] as string);
  }

  /** Returns a page of rows, in the order of the keys: the first, or that after a key. */
  page(after?: string): readonly ViewRow[] {
    // The first page has no condition: no key sorts before the empty key.
    const where = after === undefined ? '' : 'WHERE key > ?';
    const sql = `SELECT key, view FROM ${quoted(this.#name)} ${where} ORDER BY key LIMIT ${PAGE}`;
    return this.#statement(sql).all(...(after === undefined ? [] : [after])) as ViewRow[]; // STRICT
  }

  /** Yields all rows in the order of the keys, read in pages. */
  rows(): Generator<ViewRow, undefined> {
    return inPages((after) => this.page(after));
  }

  find(query: ViewQuery): unknown[] {
    return this.#select('view', query).map((view) => JSON.parse(view as string));
  }

  /** Returns the numbers that matching values have in a field, far faster than the values. */
  numbers(field: string, query: ViewQuery): number[] {
    return this.#select(ordering(this.#queried, field, query), query).map(Number);
  }

  #select(column: string, { orderBy, descending, limit, offset = 0, ...asked }: ViewQuery): unknown[] {
    const { sql, values } = selection(this.#queried, asked);
    const by = orderBy && ordering(this.#queried, orderBy, asked);
    const order = by ? `ORDER BY ${by} ${descending ? 'DESC' : 'ASC'}` : '';
    const found = this.#statement(`SELECT ${column} AS found FROM ${sql} ${order} ${LIMIT} OFFSET ?`);
    return Array.from(found.iterate(...values, limit, offset), (row) => row['found']);
  }

  candidateAt(query: Omit<ViewQuery, 'limit'>, place: number): number | string | undefined {
    const { sql, values } = candidateQuery(this.#queried, query) ?? {};
    const row = sql === undefined ? undefined : this.#statement(sql).get(...(values ?? []), place);
    return row && (row['id'] as number | string); // keys are numbers, fields either
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    const { sql, values } = selection(this.#queried, query);
    return Number(this.#statement(`SELECT count(*) AS count FROM ${sql}`).get(...values)?.['count']);
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    const last = this.#counters.at(-1);
    if (last === undefined) return new Map();
    const fields = Object.keys(equal).map((field) => quoted(this.#counted(field)));
    const where = fields.length > 0 ? `WHERE ${fields.map((field) => `${field} = ?`).join(' AND ')}` : '';
    const rows = this.#statement(
      `SELECT "${last}" AS value, sum(count) AS count FROM ${lookupTable(this.#name, 'counts')} ${where} GROUP BY value HAVING sum(count) > 0`,
    ).all(...Object.values(equal));
    return new Map(rows.map((row) => [String(row['value']), Number(row['count'])]));
  }

  /** Whether the file has counters of the view: they are added once it is filled. */
  get isCounted(): boolean {
    return this.#counters.length > 0;
  }

  /** Returns the counters as they are stored, each with all of its values. */
  countRows(): readonly unknown[] {
    if (!this.isCounted) return [];
    const order = this.#counters.map(quoted).join();
    return this.#statement(
      `SELECT * FROM ${lookupTable(this.#name, 'counts')} WHERE count <> 0 ORDER BY ${order}`,
    ).all();
  }

  get #queried() {
    this.#columns ??= storedFields(this.#database, this.#name);
    return { name: this.#name, columns: this.#columns };
  }

  get #counters(): readonly string[] {
    this.#countedBy ??= countedFields(this.#database, this.#name);
    return this.#countedBy;
  }

  #statement(sql: string): StatementSync {
    return this.#statements.getOrInsertComputed(sql, () => this.#database.prepare(sql));
  }

  #counted(field: string): string {
    if (this.#counters.includes(field)) return field;
    throw new TypeError(`The view ${this.#name} is not counted by ${field}.`);
  }
}

/** Yields what `page` returns, until a page is the last one. */
export function* inPages(page: (after?: string) => readonly ViewRow[]): Generator<ViewRow, undefined> {
  for (let after: string | undefined; ; ) {
    const views = page(after);
    yield* views;
    if (views.length < PAGE) return undefined;
    after = views.at(-1)?.key;
  }
}
