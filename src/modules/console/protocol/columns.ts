import type { DepositRow } from './deposit-list.ts';

/** A column of the list of deposits: its name in addresses, its heading, and the fields that an export has for it. */
export type Column = {
  readonly name: string;
  readonly title: string;
  readonly fields: readonly (keyof DepositRow)[];
  /** Whether it is shown unless an address names columns. */
  readonly isUsual: boolean;
};

/** All columns in their order; the first one is always shown. */
export const COLUMNS = [
  { name: 'id', title: 'Id', fields: ['depositId'], isUsual: true },
  { name: 'title', title: 'Title', fields: ['title'], isUsual: true },
  { name: 'authors', title: 'Authors', fields: ['authors'], isUsual: false },
  { name: 'owner', title: 'Client / collection', fields: ['client', 'collection'], isUsual: true },
  { name: 'status', title: 'Status', fields: ['status', 'statusDetail', 'reasonCodes'], isUsual: true },
  { name: 'created', title: 'Created', fields: ['createdAt'], isUsual: false },
  { name: 'changed', title: 'Changed', fields: ['updatedAt'], isUsual: true },
  { name: 'origin', title: 'Origin', fields: ['origin'], isUsual: false },
  { name: 'slug', title: 'Slug', fields: ['slug'], isUsual: false },
  { name: 'external', title: 'External id', fields: ['externalIdentifier'], isUsual: false },
  { name: 'swhid', title: 'SWHID', fields: ['swhid'], isUsual: true },
] as const satisfies readonly Column[];

export type ColumnName = (typeof COLUMNS)[number]['name'];

/** Returns the columns that `columns` in the query of an address names, in the order of all columns. */
export function columnsIn(query: URLSearchParams): readonly (typeof COLUMNS)[number][] {
  const named = query.get('columns')?.split(',') ?? [];
  const chosen = COLUMNS.filter(({ name }) => name === 'id' || named.includes(name));
  return chosen.some(({ name }) => named.includes(name)) ? chosen : COLUMNS.filter(({ isUsual }) => isUsual);
}

/** Returns the value of `columns` in an address; `null` for the usual columns. */
export function columnsText(names: readonly ColumnName[]): string | null {
  const wanted = COLUMNS.filter(({ name }) => name === 'id' || names.includes(name));
  const isUsual = COLUMNS.every((column) => column.isUsual === wanted.includes(column));
  return isUsual ? null : wanted.map(({ name }) => name).join(',');
}
