import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ViewQuery } from '../view-store.ts';
import { countedFields, expression, viewsAskedFor } from './view-schema.ts';

const PAGE = 500;

/** Looks up views in a file by fields other than their key. */
export class ViewQueries {
  readonly #database: DatabaseSync;
  readonly #view: string;
  #countedBy: readonly string[];
  /** Prepared statements by their SQL text: queries repeat in few forms. */
  readonly #statements = new Map<string, StatementSync>();

  /** @param view name of the view, for messages. */
  constructor(database: DatabaseSync, view: string) {
    this.#database = database;
    this.#view = view;
    this.#countedBy = countedFields(database);
  }

  lookupsChanged(): void {
    this.#countedBy = countedFields(this.#database);
  }

  get size(): number {
    return Number(this.#statement('SELECT count(*) AS size FROM views').get()?.['size']);
  }

  /** Yields keys and views as they are stored, in the order of the keys, read in pages. */
  *rows(): IterableIterator<[key: string, view: string]> {
    const pageOf = (where: string) =>
      this.#statement(`SELECT key, view FROM views ${where} ORDER BY key LIMIT ${PAGE}`);
    let rows = pageOf('').all(); // without a condition: no key sorts before the empty key
    for (;;) {
      const page = rows as { key: string; view: string }[];
      for (const { key, view } of page) yield [key, view];
      if (page.length < PAGE) return;
      rows = pageOf('WHERE key > ?').all((page.at(-1) as { key: string }).key);
    }
  }

  find({ orderBy, descending = false, limit, offset = 0, ...asked }: ViewQuery): unknown[] {
    const { sql, values } = viewsAskedFor(asked);
    const order = orderBy ? `ORDER BY ${expression(orderBy)} ${descending ? 'DESC' : 'ASC'}` : '';
    const rows = this.#statement(`SELECT view FROM ${sql} ${order} LIMIT ? OFFSET ?`).all(
      ...values,
      limit,
      offset,
    );
    return rows.map((row) => JSON.parse(row['view'] as string));
  }

  count(asked: Omit<ViewQuery, 'limit'>): number {
    const { sql, values } = viewsAskedFor(asked);
    return Number(this.#statement(`SELECT count(*) AS count FROM ${sql}`).get(...values)?.['count']);
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    const last = this.#countedBy.at(-1);
    if (last === undefined) return new Map();
    const fields = Object.keys(equal).map((field) => this.#counted(field));
    const where = fields.length > 0 ? `WHERE ${fields.map((field) => `"${field}" = ?`).join(' AND ')}` : '';
    const rows = this.#statement(
      `SELECT "${last}" AS value, sum(count) AS count FROM counts ${where} GROUP BY value HAVING sum(count) > 0`,
    ).all(...Object.values(equal));
    return new Map(rows.map((row) => [String(row['value']), Number(row['count'])]));
  }

  /** Returns the counters as they are stored, each with all of its values. */
  countRows(): readonly unknown[] {
    if (this.#countedBy.length === 0) return [];
    const order = this.#countedBy.map((field) => `"${field}"`).join();
    return this.#statement(`SELECT * FROM counts WHERE count <> 0 ORDER BY ${order}`).all();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #counted(field: string): string {
    if (this.#countedBy.includes(field)) return field;
    throw new TypeError(`The view ${this.#view} is not counted by ${field}.`);
  }
}
