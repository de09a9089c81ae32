import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DepositRow } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import { navigate } from '../router.ts';
import { Copyable } from './copy.ts';
import { Title } from './shown.ts';
import { StatusMark } from './status.ts';
import { Time } from './time.ts';

type TableProps = {
  readonly rows: readonly DepositRow[];
  /** The selected deposits; `undefined` if the viewer cannot act on them. */
  readonly selected: ReadonlySet<number> | undefined;
  readonly onSelect: (selected: ReadonlySet<number>) => void;
};

/** The list of deposits. The keys j and k move, x selects, o and Enter open. */
export function DepositTable({ rows, selected, onSelect }: TableProps): VNode {
  const toggle = (id: number): void => onSelect(toggled(selected ?? new Set(), id));
  const current = useRowKeys(rows, toggle);
  const isAll = rows.length > 0 && rows.every(({ depositId }) => selected?.has(depositId));
  const toggleAll = (): void => onSelect(isAll ? new Set() : new Set(rows.map(({ depositId }) => depositId)));
  return html`<table class="list">
    <thead>
      <tr>
        ${
          selected &&
          html`<th scope="col">
            <input type="checkbox" aria-label="Select all on this page" checked=${isAll} onChange=${toggleAll} />
          </th>`
        }
        <th scope="col">Id</th>
        <th scope="col">Title</th>
        <th scope="col">Client / collection</th>
        <th scope="col">Status</th>
        <th scope="col">Changed</th>
        <th scope="col">SWHID</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map((row, index) => html`<${Row} key=${row.depositId} row=${row} isCurrent=${index === current} isSelected=${selected?.has(row.depositId)} onToggle=${toggle} />`)}
    </tbody>
  </table>`;
}

function Row({
  row,
  isCurrent,
  isSelected,
  onToggle,
}: {
  readonly row: DepositRow;
  readonly isCurrent: boolean;
  readonly isSelected: boolean | undefined;
  readonly onToggle: (id: number) => void;
}): VNode {
  const { depositId, title, client, collection, status, statusDetail, reasonCodes, updatedAt, swhid } = row;
  return html`<tr class=${isCurrent ? 'current' : undefined} aria-selected=${isSelected}>
    ${
      isSelected !== undefined &&
      html`<td data-label="Selected">
        <input
          type="checkbox"
          aria-label=${`Select deposit ${depositId}`}
          checked=${isSelected}
          onChange=${() => onToggle(depositId)}
        />
      </td>`
    }
    <td data-label="Id"><a href=${pathOf(depositId)} id=${`row-${depositId}`}>${depositId}</a></td>
    <td data-label="Title"><${Title} title=${title} /></td>
    <td data-label="Client / collection">${client} / ${collection}</td>
    <td data-label="Status">
      <${StatusMark} status=${status} />
      ${reasonCodes.length > 0 && html`<div class="quiet detail" title=${statusDetail}>${reasonCodes.join(', ')}</div>`}
    </td>
    <td data-label="Changed"><${Time} at=${updatedAt} /></td>
    <td data-label="SWHID">
      ${swhid !== null && html`<${Copyable} text=${swhid} shown=${`${swhid.slice(0, 18)}…`} />`}
    </td>
  </tr>`;
}

function pathOf(depositId: number): string {
  return `/console/deposits/${depositId}`;
}

function toggled(selected: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const others = new Set(selected);
  if (!others.delete(id)) others.add(id);
  return others;
}

/**
 * Moves a cursor over the rows by keys, and returns its index; the focus is on the link of its row. Keys may come faster
 * than the page is rendered, so the listener reads a reference.
 */
function useRowKeys(rows: readonly DepositRow[], toggle: (id: number) => void): number {
  const [current, setCurrent] = useState(-1);
  const latest = useRef({ rows, toggle, current });
  latest.current = { rows, toggle, current: latest.current.current };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
      const present = latest.current;
      const row = present.rows[present.current];
      const step = { j: 1, k: -1 }[event.key];
      if (step !== undefined) {
        present.current = Math.min(present.rows.length - 1, Math.max(0, present.current + step));
        setCurrent(present.current);
        document.getElementById(`row-${present.rows[present.current]?.depositId}`)?.focus();
      } else if (event.key === 'x' && row) present.toggle(row.depositId);
      else if (event.key === 'o' && row) navigate(pathOf(row.depositId));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return current;
}

function isText(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;
}
