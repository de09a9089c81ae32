import type { ComponentChild, VNode } from 'preact';
import { html } from '../../protocol/html.ts';

/** A column of a table. On narrow pages its title is repeated in each cell. */
export type TableColumn<Row> = {
  readonly title: string;
  /** Shown in the head in place of the title. */
  readonly head?: ComponentChild;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChild;
};

type TableProps<Row> = {
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** A further class of the table. */
  readonly kind?: string;
  /** Returns the key of a row, and its attributes. */
  readonly attributesOf?: (row: Row) => object;
};

/** A table, which becomes a list of rows with labelled cells on narrow pages. */
export function DataTable<Row>({ columns, rows, kind = '', attributesOf }: TableProps<Row>): VNode {
  return html`<table class=${`list ${kind}`}>
    <thead>
      <tr>
        ${columns.map(({ title, head = title, isNumber }) => html`<th scope="col" class=${isNumber && 'number'}>${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr ...${attributesOf?.(row)}>
          ${columns.map(({ title, isNumber, cell }) => html`<td data-label=${title} class=${isNumber && 'number'}>${cell(row)}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>`;
}
