import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../../protocol/html.ts';
import type { ParkedRow, ParkedWork } from '../../protocol/parked-work.ts';
import { postJson } from '../api.ts';
import { useRereadJson } from '../loaded.ts';
import { useAct } from '../parts/act.ts';
import { Copyable } from '../parts/copy.ts';
import { DataTable, type TableColumn } from '../parts/data-table.ts';
import { Dialog } from '../parts/dialog.ts';
import { valueOf } from '../parts/fields.ts';
import { Pending, Problem } from '../parts/pending.ts';
import { Shown } from '../parts/shown.ts';
import { Time } from '../parts/time.ts';
import { serviceTime } from '../service-clock.ts';
import { shellWord } from '../texts/command-line.ts';
import { durationText } from '../texts/times.ts';
import type { ScreenProps } from './screen-props.ts';

/** The events that checker, loader and notifier gave up, by reason; operators retry or skip them. */
export function Work({ boot }: ScreenProps): VNode {
  const [version, setVersion] = useState(0);
  const [skipped, setSkipped] = useState<ParkedRow | undefined>(undefined);
  const loaded = useRereadJson<ParkedWork>('/console/api/work', version);
  const act = useAct();
  const mayAct = boot.viewer.permissions.includes('work:act');
  const again = (): void => setVersion((before) => before + 1);
  const retry = (rows: readonly ParkedRow[]): void => act.run(() => retryAll(rows).finally(again));
  const groups = Object.entries(Object.groupBy(loaded.value?.parked ?? [], ({ reason }) => reason));
  return html`
    <${Pending} of=${loaded} />
    <${Problem} text=${act.problem} />
    ${loaded.value && groups.length === 0 && html`<p class="quiet">No event is parked. Events that the checker, the loader or the notifier gave up appear here.</p>`}
    ${groups.length > 0 && html`<p class="quiet">The service tried to handle these events, and gave up. Each waits until an operator retries or skips it.</p>`}
    ${groups.map(
      ([reason, rows = []]) => html`<section class="panel" key=${reason} aria-label=${reason}>
        <div class="actions">
          <h2 class="grow"><${Shown} text=${reason} /></h2>
          ${mayAct && rows.length > 1 && html`<button type="button" onClick=${() => retry(rows)}>Retry all ${rows.length}</button>`}
        </div>
        <${ParkedTable} rows=${rows} mayAct=${mayAct} onRetry=${(row: ParkedRow) => retry([row])} onSkip=${setSkipped} />
      </section>`,
    )}
    ${skipped && html`<${SkipDialog} row=${skipped} onClose=${() => setSkipped(undefined)} onDone=${again} />`}
  `;
}

type TableProps = {
  readonly rows: readonly ParkedRow[];
  readonly mayAct: boolean;
  readonly onRetry: (row: ParkedRow) => void;
  readonly onSkip: (row: ParkedRow) => void;
};

function ParkedTable({ rows, mayAct, onRetry, onSkip }: TableProps): VNode {
  const columns: TableColumn<ParkedRow>[] = [
    {
      title: 'Deposit',
      cell: ({ depositId, stream, revision }) =>
        depositId === null
          ? stream
          : html`<a href=${`/console/deposits/${depositId}?at=${revision}`}>${depositId}</a>`,
    },
    { title: 'Reactor', cell: ({ reactor }) => reactor },
    {
      title: 'Event',
      cell: ({ eventId, object }) => html`<${Copyable} text=${eventId} shown=${`${eventId.slice(0, 8)}…`} />
        ${object !== null && html`<div class="quiet detail">until the object <${Copyable} text=${object} shown=${`${object.slice(0, 12)}…`} /> is readable</div>`}`,
    },
    {
      title: 'Since',
      cell: ({ since }) =>
        html`<${Time} at=${since} /> <span class="quiet">${durationText(secondsSince(since))} ago</span>`,
    },
    { title: 'Parked', cell: ({ times }) => (times === 1 ? 'once' : `${times} times`) },
  ];
  const decision: TableColumn<ParkedRow> = {
    title: 'Decision',
    cell: (row) => html`<span class="actions">
      <button type="button" onClick=${() => onRetry(row)}>Retry</button>
      <button type="button" onClick=${() => onSkip(row)}>Skip…</button>
    </span>`,
  };
  const attributesOf = ({ reactor, eventId }: ParkedRow) => ({ key: `${reactor} ${eventId}` });
  return html`<${DataTable} columns=${mayAct ? [...columns, decision] : columns} rows=${rows} attributesOf=${attributesOf} />`;
}

type SkipProps = { readonly row: ParkedRow; readonly onClose: () => void; readonly onDone: () => void };

/** How a skip ends a deposit that waits for the event, by the reactor. */
const ENDS: Readonly<Record<string, string>> = {
  checker: ': a deposit that waits for its checks is rejected',
  loader: ': a deposit that waits to be loaded fails',
};

function SkipDialog({ row, onClose, onDone }: SkipProps): VNode {
  const [reason, setReason] = useState('');
  const act = useAct();
  const { reactor, eventId, stream, revision } = row;
  const command = `npx deposit-service parked skip ${eventId} --reactor ${reactor} --reason ${shellWord(reason)}`;
  const skip = (event: SubmitEvent): void => {
    event.preventDefault();
    act.run(async () => {
      await postJson('/console/api/work/skip', { reactor, eventId, reason });
      onDone();
      onClose();
    });
  };
  return html`<${Dialog} title=${`Skip event ${revision} of ${stream}`} onClose=${onClose}>
    <form onSubmit=${skip}>
      <p>The ${reactor} will not handle this event again${ENDS[reactor] ?? ''}. This cannot be undone. The reason and your name become an event.</p>
      <label>
        Reason
        <input
          class="wide"
          required
          value=${reason}
          onInput=${(event: Event) => setReason(valueOf(event))}
        />
      </label>
      <p class="quiet">The same on the command line:</p>
      <p><${Copyable} text=${command} /></p>
      <${Problem} text=${act.problem} />
      <div class="actions">
        <button class="primary">Skip the event</button>
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  </${Dialog}>`;
}

/** Maximum number of events of one request: the server accepts bodies of 64 KiB. */
const MAX_EVENTS = 1000;

async function retryAll(rows: readonly ParkedRow[]): Promise<void> {
  for (const [reactor, own = []] of Object.entries(Object.groupBy(rows, (row) => row.reactor))) {
    const eventIds = own.map(({ eventId }) => eventId);
    while (eventIds.length > 0)
      await postJson('/console/api/work/retry', { reactor, eventIds: eventIds.splice(0, MAX_EVENTS) });
  }
}

function secondsSince(time: string): number {
  return Math.max(0, (serviceTime().getTime() - Date.parse(time)) / 1000);
}
