import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { columnsIn } from '../../protocol/columns.ts';
import { type DepositPage, type DepositRow, filterIn } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import type { Act } from '../../protocol/job.ts';
import type { LiveChange } from '../../protocol/live-change.ts';
import { getJson } from '../api.ts';
import { ColumnPicker } from '../list/column-picker.ts';
import { DepositTable } from '../list/deposit-table.ts';
import { FilterBar } from '../list/filter-bar.ts';
import { useChanges } from '../live.ts';
import { useJson } from '../loaded.ts';
import { useAct } from '../parts/act.ts';
import { ActDialog, type Selected } from '../parts/act-dialog.ts';
import { Pending, Problem } from '../parts/pending.ts';
import { STATUSES, StatusMark } from '../parts/status.ts';
import { Tabs } from '../parts/tabs.ts';
import { withQuery } from '../router.ts';
import { numberText } from '../texts/count.ts';
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
  const { rows, newer } = useLiveRows(data);
  const mayAct = boot.viewer.permissions.includes('deposits:act');
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [acting, setActing] = useState<{ readonly act: Act; readonly selected: Selected } | undefined>(
    undefined,
  );
  const counting = useAct();
  useEffect(() => setSelected(new Set()), [asked.toString()]);
  const actOnAll = (act: Act): void =>
    counting.run(async () => {
      const { count } = await getJson<{ count: number }>(`/console/api/deposits/count?${matching}`);
      setActing({ act, selected: { filter, count } });
    });
  return html`
    <${StatusTabs} status=${filter.status} counts=${data?.counts ?? null} />
    <${FilterBar} filter=${filter} without=${boot.viewer.client === null ? [] : ['client']} />
    <${Problem} text=${counting.problem} />
    <div class="actions toolbar">
      ${mayAct && html`<${Acts} selected=${selected} onSelected=${(act: Act) => setActing({ act, selected: { ids: [...selected] } })} onAll=${actOnAll} />`}
      <span class="grow"></span>
      <${ColumnPicker} shown=${columns.map(({ name }) => name)} />
      ${['csv', 'ndjson'].map(
        (format) =>
          html`<a class="button" download href=${`/console/api/deposits/export/${format}?${exported.toString()}`}>${format.toUpperCase()}</a>`,
      )}
    </div>
    <p class="newer" role="status">
      ${newer > 0 && html`<button type="button" onClick=${() => setVersion(version + 1)}>${newer} new</button>`}
    </p>
    <${Pending} of=${loaded} />
    ${data && rows.length === 0 && data.searchedTo === null && html`<${NoRows} isFirst=${before === null} isFiltered=${matching !== ''} />`}
    ${rows.length > 0 && html`<${DepositTable} columns=${columns} rows=${rows} selected=${mayAct ? selected : undefined} onSelect=${setSelected} />`}
    ${data && data.searchedTo !== null && html`<p class="quiet" role="status">The search took long: it looked at the deposits from ${data.searchedTo} on. Older ones may match.</p>`}
    <p class="actions">
      ${before !== null && html`<a class="button" href=${`${withQuery({ before: null })}#content`}>Newest deposits</a>`}
      ${data && data.next !== null && html`<a class="button" href=${`${withQuery({ before: String(data.next) })}#content`}>Older deposits</a>`}
    </p>
    ${acting && html`<${ActDialog} ...${acting} onClose=${() => setActing(undefined)} />`}
  `;
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
  const tabs = [undefined, ...STATUSES].map((status) => ({
    href: withQuery({ status: status ?? null, before: null }),
    text:
      status === undefined
        ? 'all'
        : html`<${StatusMark} status=${status} /> ${counts && html`<span class="number">${numberText(counts[status] ?? 0)}</span>`}`,
    isCurrent: chosen === status,
  }));
  return html`<${Tabs} label="Status" tabs=${tabs} />`;
}

type ActsProps = {
  readonly selected: ReadonlySet<number>;
  readonly onSelected: (act: Act) => void;
  readonly onAll: (act: Act) => void;
};

function Acts({ selected, onSelected, onAll }: ActsProps): VNode {
  const none = selected.size === 0;
  return html`
    <button type="button" disabled=${none} onClick=${() => onSelected('recheck')}>Check again…</button>
    <button type="button" disabled=${none} onClick=${() => onSelected('retry')}>Retry…</button>
    <span class="quiet">${selected.size} selected</span>
    <button type="button" onClick=${() => onAll('recheck')}>Check all that match…</button>
    <button type="button" onClick=${() => onAll('retry')}>Retry all that match…</button>
  `;
}

/**
 * Returns the rows as they are now, and how many deposits were created since the page was read. Rows change in place:
 * none moves while it is read.
 */
function useLiveRows(data: DepositPage | undefined): {
  readonly rows: readonly DepositRow[];
  readonly newer: number;
} {
  const [changes, setChanges] = useState<ReadonlyMap<number, LiveChange>>(new Map());
  const [newer, setNewer] = useState(0);
  useEffect(() => setNewer(0), [data]);
  useChanges(
    (change) => {
      if (change.type === 'DepositCreated') setNewer((count) => count + 1);
      else setChanges((known) => withChange(known, change, data?.rows ?? []));
    },
    [data],
  );
  const rows = (data?.rows ?? []).map((row) => {
    const changed = changes.get(row.depositId)?.row;
    return changed && changed.revision > row.revision ? changed : row;
  });
  return { rows, newer };
}

/** Maximum number of changes that are kept of deposits that are not shown: rows that are being read may have them. */
const MAX_KEPT = 200;

/** Adds the newest change of a deposit, and drops the oldest ones of deposits that are not shown. */
function withChange(
  known: ReadonlyMap<number, LiveChange>,
  change: LiveChange,
  rows: readonly DepositRow[],
): ReadonlyMap<number, LiveChange> {
  const after = new Map(known);
  after.delete(change.depositId);
  after.set(change.depositId, change);
  const shown = new Set(rows.map(({ depositId }) => depositId));
  for (const id of after.keys()) {
    if (after.size <= MAX_KEPT) break;
    if (!shown.has(id)) after.delete(id);
  }
  return after;
}
