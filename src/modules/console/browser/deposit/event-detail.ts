import type { VNode } from 'preact';
import type { Json } from '../../proof/canonical-json.ts';
import { hashInput } from '../../proof/hash-chain.ts';
import { html } from '../../protocol/html.ts';
import { Copyable } from '../parts/copy.ts';
import { DataTable, type TableColumn } from '../parts/data-table.ts';
import { Shown, ShownJson } from '../parts/shown.ts';
import { Time } from '../parts/time.ts';
import { withQuery } from '../router.ts';
import { countText } from '../texts/count.ts';
import { type Difference, differencesBetween, unchangedMembers } from './difference.ts';
import { type CheckedStep, type ViewStep, viewsAround } from './history.ts';

/** Maximum number of changes that are shown of a state or a view. */
const MAX_DIFFERENCES = 300;

/** Digests and SWHIDs. */
const IDENTIFIER = /^(?:[0-9a-f]{32,}|swh:1:.*)$/;

type Props = {
  readonly steps: readonly CheckedStep[];
  readonly step: CheckedStep;
};

/** One event: what it says, and the state and each view before and after it. */
export function EventDetail({ steps, step }: Props): VNode {
  const { event, description, occurredAt, actor, before, after } = step;
  const views = viewsAround(
    steps.map((one) => one.event),
    steps.indexOf(step),
  );
  const [old, present] = [before, after] as unknown as [Json, Json]; // states are declared as plain JSON
  return html`<section class="event-detail" aria-label=${`Event ${event.revision}`}>
    <h2>Event #${event.revision}: ${event.type}</h2>
    <p><${Shown} text=${description.sentence} /></p>
    <dl class="facts">
      <div><dt>time</dt><dd><${Time} at=${occurredAt} /></dd></div>
      <div><dt>by</dt><dd><${Shown} text=${actor} /></dd></div>
      ${description.details.map(
        ({ label, value }) =>
          html`<div><dt>${label}</dt><dd class=${IDENTIFIER.test(value) ? 'mono' : undefined}><${Shown} text=${value} /></dd></div>`,
      )}
      <${Links} steps=${steps} step=${step} />
    </dl>
    <${Hash} ...${step} />
    <h2>State after #${event.revision}</h2>
    <${Comparison} before=${old} after=${present} />
    <h2>Views</h2>
    ${views.length === 0 && html`<p class="quiet">No view handles this type of event.</p>`}
    ${views.map((view) => html`<${ViewDetail} view=${view} />`)}
    <h2>Event</h2>
    <details><summary>Data and metadata</summary><${ShownJson} value=${event} /></details>
    <details>
      <summary>Text that is hashed</summary>
      <pre class="json"><${Shown} text=${hashInput(event)} /></pre>
    </details>
  </section>`;
}

/** Links to what caused the event, and to everything of the same request. */
function Links({ steps, step }: Props): VNode {
  const { event, correlationId } = step;
  const cause = steps.find((other) => other.event.id === event.metadata['$causationId']);
  return html`
    ${
      cause &&
      html`<div>
        <dt>caused by</dt>
        <dd><a href=${`${withQuery({ at: String(cause.event.revision) })}#event`}>#${cause.event.revision} ${cause.event.type}</a></dd>
      </div>`
    }
    <div><dt>correlation</dt><dd><${Copyable} text=${correlationId} /></dd></div>
    <div><dt>event id</dt><dd><${Copyable} text=${event.id} /></dd></div>
  `;
}

function Hash({ fault, isHashed }: Pick<CheckedStep, 'fault' | 'isHashed'>): VNode {
  if (fault !== undefined) return html`<p class="bad" role="alert">✖ ${fault}</p>`;
  return isHashed
    ? html`<p class="good">✔ The hash was recomputed in this browser, and is linked to the event before it.</p>`
    : html`<p class="quiet">Recomputing the hash …</p>`;
}

function ViewDetail({ view: { view, before, after, fault } }: { readonly view: ViewStep }): VNode {
  return html`<details open=${fault !== undefined}>
    <summary>${view}${JSON.stringify(before) === JSON.stringify(after) ? ' (unchanged)' : ''}</summary>
    ${fault !== undefined && html`<p class="bad" role="alert">✖ The handler failed at ${fault}</p>`}
    <${Comparison} before=${before} after=${after} />
    <details><summary>Before</summary><${ShownJson} value=${before} /></details>
    <details><summary>After</summary><${ShownJson} value=${after} /></details>
  </details>`;
}

/** Shows the members that differ, and the number of the others. */
function Comparison({ before, after }: Pick<ViewStep, 'before' | 'after'>): VNode {
  const differences = differencesBetween(before, after);
  const unchanged = unchangedMembers(before, after);
  return html`
    ${differences.length === 0 && html`<p class="quiet">Nothing changes.</p>`}
    ${differences.length > 0 && html`<${DataTable} kind="differences" columns=${DIFFERENCE} rows=${differences.slice(0, MAX_DIFFERENCES)} />`}
    ${differences.length > MAX_DIFFERENCES && html`<p class="quiet">And ${countText(differences.length - MAX_DIFFERENCES, 'more change')}.</p>`}
    ${unchanged > 0 && html`<p class="quiet">Unchanged members: ${unchanged}.</p>`}
  `;
}

const DIFFERENCE: readonly TableColumn<Difference>[] = [
  { title: 'Member', cell: ({ path }) => html`<code>${path === '' ? 'all' : path}</code>` },
  { title: 'Change', cell: ({ kind }) => kind },
  {
    title: 'Before',
    cell: ({ before }) => before !== undefined && html`<del><${Shown} text=${valueText(before)} /></del>`,
  },
  {
    title: 'After',
    cell: ({ after }) => after !== undefined && html`<ins><${Shown} text=${valueText(after)} /></ins>`,
  },
];

function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
