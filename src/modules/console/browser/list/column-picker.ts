import type { VNode } from 'preact';
import { COLUMNS, type ColumnName, columnsText } from '../../protocol/columns.ts';
import { html } from '../../protocol/html.ts';
import { navigate, withQuery } from '../router.ts';

/** Chooses the columns of the list; the choice is in the address. */
export function ColumnPicker({ shown }: { readonly shown: readonly ColumnName[] }): VNode {
  const toggle = (name: ColumnName): void => {
    const names = shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name];
    navigate(withQuery({ columns: columnsText(names) }), { replace: true });
  };
  return html`<button type="button" popovertarget="columns">Columns</button>
    <fieldset id="columns" popover>
      <legend class="quiet">Columns of the list and of exports</legend>
      ${COLUMNS.slice(1).map(({ name, title }) => {
        const isShown = shown.includes(name);
        return html`<label><input type="checkbox" checked=${isShown} onChange=${() => toggle(name)} /> ${title}</label>`;
      })}
    </fieldset>`;
}
