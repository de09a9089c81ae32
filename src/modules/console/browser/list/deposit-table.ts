import type { ComponentChild, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ColumnName, columnsIn } from '../../protocol/columns.ts';
import type { DepositRow } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import { Copyable } from '../parts/copy.ts';
import { DataTable, type TableColumn } from '../parts/data-table.ts';
import { useKeys } from '../parts/keys.ts';
import { Shown, Title } from '../parts/shown.ts';
import { StatusMark } from '../parts/status.ts';
import { Time } from '../parts/time.ts';
import { navigate } from '../router.ts';

type TableProps = {
  readonly rows: readonly DepositRow[];
  /** The selected deposits; `undefined` if the viewer cannot act on them. */
  readonly selected: ReadonlySet<number> | undefined;
  readonly onSelect: (selected: ReadonlySet<number>) => void;
  readonly columns: ReturnType<typeof columnsIn>;
};

/** The list of deposits. The keys j and k move, x selects, o and Enter open. */
export function DepositTable({ rows, selected, onSelect, columns }: TableProps): VNode {
  const toggle = (id: number): void => onSelect(toggled(selected ?? new Set(), id));
  const current = useRowKeys(rows, toggle);
  const isAll = rows.length > 0 && rows.every(({ depositId }) => selected?.has(depositId));
  const toggleAll = (): void => onSelect(isAll ? new Set() : new Set(rows.map(({ depositId }) => depositId)));
  const selection: TableColumn<DepositRow> = {
    title: 'Selected',
    head: html`<input type="checkbox" aria-label="Select all on this page" checked=${isAll} onChange=${toggleAll} />`,
    cell: ({ depositId: id }) =>
      html`<input type="checkbox" aria-label=${`Select deposit ${id}`} checked=${selected?.has(id)} onChange=${() => toggle(id)} />`,
  };
  const shown = columns.map(({ name, title }) => ({ title, cell: CELLS[name] }));
  const attributesOf = ({ depositId }: DepositRow) => ({
    key: depositId,
    class: depositId === current ? 'current' : undefined,
    'aria-selected': selected?.has(depositId),
  });
  return html`<div class="wide">
    <${DataTable} columns=${selected ? [selection, ...shown] : shown} rows=${rows} attributesOf=${attributesOf} />
  </div>`;
}

const CELLS: Readonly<Record<ColumnName, (row: DepositRow) => ComponentChild>> = {
  id: ({ depositId }) => html`<a href=${pathOf(depositId)} id=${`row-${depositId}`}>${depositId}</a>`,
  title: ({ title }) => html`<${Title} title=${title} />`,
  authors: ({ authors }) => html`<${Shown} text=${authors.join(', ')} />`,
  owner: ({ client, collection }) => `${client} / ${collection}`,
  status: ({ status, statusDetail, reasonCodes }) => html`<${StatusMark} status=${status} />
    ${reasonCodes.length > 0 && html`<div class="quiet detail" title=${statusDetail}>${reasonCodes.join(', ')}</div>`}`,
  created: ({ createdAt }) => html`<${Time} at=${createdAt} />`,
  changed: ({ updatedAt }) => html`<${Time} at=${updatedAt} />`,
  origin: ({ origin }) => origin !== null && html`<${Shown} text=${origin} />`,
  slug: ({ slug }) => slug !== null && html`<${Shown} text=${slug} />`,
  external: ({ externalIdentifier }) =>
    externalIdentifier !== null && html`<${Shown} text=${externalIdentifier} />`,
  swhid: ({ swhid }) =>
    swhid !== null && html`<${Copyable} text=${swhid} shown=${`${swhid.slice(0, 18)}…`} />`,
};

function pathOf(depositId: number): string {
  return `/console/deposits/${depositId}`;
}

function toggled(selected: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const others = new Set(selected);
  if (!others.delete(id)) others.add(id);
  return others;
}

/**
 * Moves a cursor over the rows by keys, and returns the deposit where it is; the focus is on the link of its row. The cursor
 * is a reference as well: keys may come faster than the page is rendered.
 */
function useRowKeys(rows: readonly DepositRow[], toggle: (id: number) => void): number | undefined {
  const [shown, setShown] = useState<number>();
  const current = useRef(shown);
  useKeys(({ key }) => {
    const index = rows.findIndex(({ depositId }) => depositId === current.current);
    const row = rows[index];
    const step = { j: 1, k: -1 }[key];
    if (step !== undefined) {
      current.current = rows[Math.min(rows.length - 1, Math.max(0, index + step))]?.depositId;
      setShown(current.current);
      document.getElementById(`row-${current.current}`)?.focus();
    } else if (key === 'x' && row) toggle(row.depositId);
    else if (key === 'o' && row) navigate(pathOf(row.depositId));
  });
  return shown;
}
