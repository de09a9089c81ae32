import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { columnsIn } from '../../protocol/columns.ts';
import { type DepositPage, type Filter, filterIn, isByChange } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import type { Act } from '../../protocol/job.ts';
import { getJson, ofViewer, type Reading } from '../api.ts';
import { ColumnPicker } from '../list/column-picker.ts';
import { DepositTable } from '../list/deposit-table.ts';
import { FilterBar } from '../list/filter-bar.ts';
import { MAX_NEWER, useLiveRows } from '../list/live-rows.ts';
import { useChanges } from '../live.ts';
import { useJson, useLoaded } from '../loaded.ts';
import { useAct } from '../parts/act.ts';
import { ActDialog, type Selected } from '../parts/act-dialog.ts';
import { Pending, Problem } from '../parts/pending.ts';
import { STATUSES, StatusMark } from '../parts/status.ts';
import { Tabs } from '../parts/tabs.ts';
import { Time } from '../parts/time.ts';
import { withQuery } from '../router.ts';
import { numberText } from '../texts/count.ts';
import { useThrottled } from '../throttled.ts';
import type { ScreenProps } from './screen-props.ts';

/** The list of deposits: filters in the address, acts on the selected ones or on all that match. */
export function Deposits({ place, boot }: ScreenProps): VNode {
  const filter = filterIn(place.query);
  const asked = new URLSearchParams(filter);
  const matching = asked.toString();
  const columns = columnsIn(place.query);
  const exported = new URLSearchParams(filter);
  if (place.query.has('columns')) exported.set('columns', columns.map(({ name }) => name).join());
  const before = place.query.get('before');
  if (before !== null) asked.set('before', before);
  const [version, setVersion] = useState(0);
  const loaded = useJson<DepositPage>(`/console/api/deposits?${asked.toString()}`, version);
  const { value: data } = loaded;
  const counts = useCounts(`/console/api/deposits?${matching}`, data);
  const order = isByChange(filter) ? 'Last changed first.' : 'Newest first.';
  const { rows, newer } = useLiveRows(data, filter);
  const mayAct = boot.viewer.permissions.includes('deposits:act');
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const selected = chosen.intersection(new Set(rows.map(({ depositId }) => depositId)));
  useEffect(() => setChosen(new Set()), [asked.toString()]);
  return html`
    <${StatusTabs} status=${filter.status} counts=${counts} />
    <${FilterBar} filter=${filter} without=${boot.viewer.client === null ? [] : ['client']} />
    <${Toolbar} key=${asked.toString()} filter=${filter} selected=${mayAct ? selected : undefined}>
      <span class="grow"></span>
      <${ColumnPicker} shown=${columns.map(({ name }) => name)} />
      ${['csv', 'ndjson'].map(
        (format) =>
          html`<a class="button" download href=${ofViewer(`/console/api/deposits/export/${format}?${exported.toString()}`)}>${format.toUpperCase()}</a>`,
      )}
    </${Toolbar}>
    ${before === null && html`<${Newer} count=${newer} order=${rows.length > 0 ? order : ''} onShow=${() => setVersion(version + 1)} />`}
    <${Pending} of=${loaded} />
    ${data && rows.length === 0 && data.searchedTo === null && html`<${NoRows} isFirst=${before === null} isFiltered=${matching !== ''} />`}
    ${rows.length > 0 && html`<${DepositTable} columns=${columns} rows=${rows} selected=${mayAct ? selected : undefined} onSelect=${setChosen} />`}
    ${data && data.searchedTo !== null && html`<p class="quiet" role="status">The search took long: it looked at the deposits ${typeof data.searchedTo === 'number' ? `from ${data.searchedTo} on` : html`changed since <${Time} at=${data.searchedTo.split(' ', 1)[0]} />`}. Older ones may match.</p>`}
    <p class="actions">
      ${before !== null && html`<a class="button" href=${`${withQuery({ before: null })}#content`}>Newest deposits</a>`}
      ${data && data.next !== null && html`<a class="button" href=${`${withQuery({ before: String(data.next) })}#content`}>Older deposits</a>`}
    </p>
  `;
}

/** Returns the numbers of the status tabs, which are read again while deposits change. The rows stay as they were read. */
function useCounts(path: string, data: DepositPage | undefined): DepositPage['counts'] {
  const [changes, changed] = useThrottled();
  useChanges(changed, []);
  const read = useRef({ data, changes });
  if (read.current.data !== data) read.current = { data, changes };
  const isOld = data?.counts != null && changes > read.current.changes;
  const load = async (reading: Reading) =>
    isOld ? (await getJson<DepositPage>(path, { ...reading, background: true })).counts : null;
  return useLoaded(load, [data], changes).value ?? data?.counts ?? null;
}

type NewerProps = { readonly count: number; readonly order: string; readonly onShow: () => void };

/** Says the order of the list, or that deposits are missing from it. Its number is not announced, since it may grow fast. */
function Newer({ count, order, onShow }: NewerProps): VNode {
  return html`<p class="actions newer">
    <span role="status">${count > 0 ? 'There are new deposits.' : order}</span>
    ${count > 0 && html`<button type="button" onClick=${onShow}>Show ${numberText(count)}${count >= MAX_NEWER && ' or more'} new</button>`}
  </p>`;
}

type NoRowsProps = { readonly isFirst: boolean; readonly isFiltered: boolean };

function NoRows({ isFirst, isFiltered }: NoRowsProps): VNode {
  if (!isFirst) return html`<p class="quiet">There are no older deposits${isFiltered && ' that match'}.</p>`;
  if (!isFiltered)
    return html`<p class="quiet">There is no deposit yet. Deposits appear here as soon as a client sends them.</p>`;
  return html`<p class="quiet">No deposit matches. <a href="/console/deposits">Remove all filters</a></p>`;
}

type StatusTabsProps = { readonly status: string | undefined; readonly counts: DepositPage['counts'] };

function StatusTabs({ status: chosen, counts }: StatusTabsProps): VNode {
  const tabs = [...new Set([undefined, ...STATUSES, chosen])].map((status) => ({
    href: withQuery({ status: status ?? null, before: null }),
    text:
      status === undefined
        ? 'all'
        : html`<${StatusMark} status=${status} /> ${counts && html`<span class="number">${numberText(new Map(Object.entries(counts)).get(status) ?? 0)}</span>`}`,
    isCurrent: chosen === status,
  }));
  return html`<${Tabs} label="Status" tabs=${tabs} />`;
}

type ToolbarProps = {
  readonly filter: Filter;
  /** The selected deposits; `undefined` if the viewer cannot act on them. */
  readonly selected: ReadonlySet<number> | undefined;
  readonly children?: ComponentChildren;
};

/** The acts on the deposits of one list. Each list has its own toolbar, so that none asks about those of another. */
function Toolbar({ filter, selected, children }: ToolbarProps): VNode {
  const [acting, setActing] = useState<{ readonly act: Act; readonly selected: Selected }>();
  const counting = useAct();
  const actOnSelected = (act: Act): void => setActing({ act, selected: { ids: [...(selected ?? [])] } });
  const actOnAll = (act: Act): void =>
    counting.run(async () => {
      const matching = new URLSearchParams(filter).toString();
      const { count } = await getJson<{ count: number }>(`/console/api/deposits/count?${matching}`);
      setActing({ act, selected: { filter, count } });
    });
  const none = selected?.size === 0;
  return html`
    <${Problem} text=${counting.problem} />
    <div class="actions toolbar">
      ${
        selected &&
        html`
          <button type="button" disabled=${none} onClick=${() => actOnSelected('recheck')}>Check again…</button>
          <button type="button" disabled=${none} onClick=${() => actOnSelected('retry')}>Retry…</button>
          <span class="quiet">${selected.size} selected</span>
          <button type="button" onClick=${() => actOnAll('recheck')}>Check all that match…</button>
          <button type="button" onClick=${() => actOnAll('retry')}>Retry all that match…</button>
        `
      }
      ${children}
    </div>
    ${acting && html`<${ActDialog} ...${acting} onClose=${() => setActing(undefined)} />`}
  `;
}
