import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../../protocol/html.ts';
import type { ParkedRow, ParkedWork } from '../../protocol/parked-work.ts';
import { postJson } from '../api.ts';
import { useRereadJson } from '../loaded.ts';
import { useAct } from '../parts/act.ts';
import { Copyable } from '../parts/copy.ts';
import { Dialog } from '../parts/dialog.ts';
import { valueOf } from '../parts/fields.ts';
import { Pending, Problem } from '../parts/pending.ts';
import { Shown } from '../parts/shown.ts';
import { Time } from '../parts/time.ts';
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
  const retry = (rows: readonly ParkedRow[]): void => act.run(() => retryAll(rows).then(again));
  const groups = Object.entries(Object.groupBy(loaded.value?.parked ?? [], ({ reason }) => reason));
  return html`
    <${Pending} of=${loaded} />
    <${Problem} text=${act.problem} />
    ${loaded.value && groups.length === 0 && html`<p class="quiet">No event is parked. Events that a reactor gave up appear here.</p>`}
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
  return html`<table class="list">
    <thead>
      <tr>
        <th scope="col">Deposit</th>
        <th scope="col">Reactor</th>
        <th scope="col">Event</th>
        <th scope="col">Since</th>
        <th scope="col">Parked</th>
        ${mayAct && html`<th scope="col">Decision</th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr key=${`${row.reactor} ${row.eventId}`}>
          <td data-label="Deposit">
            ${
              row.depositId === null
                ? row.stream
                : html`<a href=${`/console/deposits/${row.depositId}?at=${row.revision}`}>${row.depositId}</a>`
            }
          </td>
          <td data-label="Reactor">${row.reactor}</td>
          <td data-label="Event">
            <${Copyable} text=${row.eventId} shown=${`${row.eventId.slice(0, 8)}…`} />
            ${row.object !== null && html`<div class="quiet detail">until the object <${Copyable} text=${row.object} shown=${`${row.object.slice(0, 12)}…`} /> is readable</div>`}
          </td>
          <td data-label="Since"><${Time} at=${row.since} /> <span class="quiet">${durationText(secondsSince(row.since))} ago</span></td>
          <td data-label="Parked">${row.times === 1 ? 'once' : `${row.times} times`}</td>
          ${
            mayAct &&
            html`<td data-label="Decision">
              <span class="actions">
                <button type="button" onClick=${() => onRetry(row)}>Retry</button>
                <button type="button" onClick=${() => onSkip(row)}>Skip…</button>
              </span>
            </td>`
          }
        </tr>`,
      )}
    </tbody>
  </table>`;
}

type SkipProps = { readonly row: ParkedRow; readonly onClose: () => void; readonly onDone: () => void };

function SkipDialog({ row, onClose, onDone }: SkipProps): VNode {
  const [reason, setReason] = useState('');
  const act = useAct();
  const { reactor, eventId, stream, revision } = row;
  const command = `npx deposit-service parked skip ${eventId} --reactor ${reactor} --reason ${quoted(reason)}`;
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
      <p>The ${reactor} will not handle this event again. The reason and your name become an event.</p>
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

async function retryAll(rows: readonly ParkedRow[]): Promise<void> {
  for (const [reactor, own = []] of Object.entries(Object.groupBy(rows, (row) => row.reactor)))
    await postJson('/console/api/work/retry', { reactor, eventIds: own.map(({ eventId }) => eventId) });
}

/** Returns the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function secondsSince(time: string): number {
  return Math.max(0, (Date.now() - Date.parse(time)) / 1000);
}
