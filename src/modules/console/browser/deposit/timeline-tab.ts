import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ChainFault, chainFaults } from '../../proof/hash-chain.ts';
import { html } from '../../protocol/html.ts';
import { momentOf, notAMoment } from '../../protocol/moment.ts';
import { getJson } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Choice, submittedText, valueOf } from '../parts/fields.ts';
import { Pending, Problem } from '../parts/pending.ts';
import { Shown } from '../parts/shown.ts';
import { StatusMark } from '../parts/status.ts';
import { Time } from '../parts/time.ts';
import { navigate, type Place, withQuery } from '../router.ts';
import { countText } from '../texts/count.ts';
import { durationText } from '../texts/times.ts';
import { EventDetail } from './event-detail.ts';
import { type CheckedStep, type HistoryStep, historyOf, type StreamEvent, stepAt } from './history.ts';
import { loadStream } from './stream-events.ts';

/** Milliseconds between two events from which the gap is shown. */
const MIN_GAP_MS = 500;

type Props = { readonly id: string; readonly place: Place; readonly version: number };

/** The events of a deposit on the left, and the state around the chosen one on the right. */
export function TimelineTab({ id, place, version }: Props): VNode {
  const stream = `deposit-${id}`;
  const loaded = useLoaded(
    (reading) => loadStream(stream, (path) => getJson(path, reading)),
    [stream],
    version,
  );
  const { value: events } = loaded;
  const faults = useChainFaults(stream, events);
  if (!events) return html`<${Pending} of=${loaded} />`;
  const steps = historyOf(events).map((step) => ({
    ...step,
    fault: step.fault ?? faults?.get(step.event.revision),
    isHashed: faults !== undefined,
  }));
  const at = place.query.get('at');
  const index = stepAt(steps, at);
  const step = steps[index];
  return html`
    <${Pending} of=${loaded} />
    <${Problem} text=${at === null || /^\d+$/.test(at) || momentOf(at) !== undefined ? undefined : notAMoment(at)} />
    <${AsOf} steps=${steps} index=${index} at=${at} />
    <div class="timeline">
      <${Events} steps=${steps} chosen=${step} query=${place.query} />
      <div id="event" tabindex="-1">
        ${
          step
            ? html`<${EventDetail} key=${index} steps=${steps} step=${step} />`
            : html`<p>The deposit did not exist yet.</p>`
        }
      </div>
    </div>
  `;
}

/** Chooses the event by a slider over revisions, or by a time. */
function AsOf({
  steps,
  index,
  at,
}: {
  readonly steps: readonly HistoryStep[];
  readonly index: number;
  readonly at: string | null;
}): VNode {
  const choose = (value: string): void => navigate(withQuery({ at: value }), { replace: true });
  const step = steps[index];
  const revisionAt = (place: string): string => String(steps[Number(place)]?.event.revision);
  const chooseTime = (event: SubmitEvent): void => {
    const time = submittedText(event, 'time');
    (event.currentTarget as HTMLFormElement).reset(); // it shows the time of the address again, as it will be
    choose(time);
  };
  return html`<form class="as-of" onSubmit=${chooseTime}>
    <label for="as-of">As of</label>
    <input
      id="as-of"
      type="range"
      min="0"
      max=${steps.length - 1}
      value=${index}
      aria-valuetext=${step ? `event ${step.event.revision}, ${step.occurredAt}` : 'before the first event'}
      onInput=${(event: Event) => choose(revisionAt(valueOf(event)))}
    />
    <output>${step ? html`#${step.event.revision} · <${Time} at=${step.occurredAt} /> · <${StatusMark} status=${step.after.status} />` : 'before the first event'}</output>
    <input name="time" aria-label="Time" placeholder="2026-01-31T12:00:00Z" defaultValue=${/\D/.test(at ?? '') ? at : ''} />
    <button>Show</button>
    ${at !== null && html`<a href=${withQuery({ at: null })}>Now</a>`}
  </form>`;
}

function Events({
  steps,
  chosen,
  query,
}: {
  readonly steps: readonly CheckedStep[];
  readonly chosen: CheckedStep | undefined;
  readonly query: URLSearchParams;
}): VNode {
  const [by, type] = [query.get('by') ?? '', query.get('type') ?? ''];
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => showChosen(list.current), [by, type, query.get('at')]);
  const shown = steps.filter(
    ({ actor, event }) => (by === '' || actor === by) && (type === '' || event.type === type),
  );
  const choice = (label: string, name: string, value: string, valueIn: (step: CheckedStep) => string) => {
    const options = [['', 'all'], ...[...new Set(steps.map(valueIn))].map((one) => [one, one])];
    return html`<${Choice} label=${label} value=${value} options=${options} onChoose=${(one: string) => navigate(withQuery({ [name]: one }))} />`;
  };
  return html`<section aria-label="Events">
    <p class="actions">
      ${choice('By', 'by', by, ({ actor }) => actor)} ${choice('Type', 'type', type, ({ event }) => event.type)}
      <span class="quiet">${shown.length} of ${countText(steps.length, 'event')}</span>
    </p>
    <ol class="events" ref=${list}>
      ${shown.map((step) => html`<${EventItem} step=${step} isChosen=${step === chosen} />`)}
    </ol>
  </section>`;
}

/** Scrolls a list that scrolls by itself, no further than the chosen event needs. */
function showChosen(list: HTMLElement | null): void {
  const chosen = list?.querySelector('[aria-current]')?.getBoundingClientRect();
  if (!list || !chosen) return;
  const { top, bottom } = list.getBoundingClientRect();
  list.scrollTop += Math.min(0, chosen.top - top) + Math.max(0, chosen.bottom - bottom);
}

type EventItemProps = { readonly step: CheckedStep; readonly isChosen: boolean };

function EventItem({ step, isChosen }: EventItemProps): VNode {
  const { event, occurredAt, actor, description, after, before, gapMs, fault, isHashed } = step;
  const { revision } = event;
  return html`<li id=${`e${revision}`} class=${step.isNewRequest ? 'new-request' : ''}>
    ${gapMs >= MIN_GAP_MS && html`<p class="gap">${gapText(step)}</p>`}
    <a href=${`${withQuery({ at: String(revision) })}#event`} aria-current=${isChosen ? 'true' : undefined}>
      <span class="event-line">
        <b>#${revision}</b> <${Time} at=${occurredAt} isShort /> <${Shown} text=${actor} />
        ${after.status !== before.status && html` → <${StatusMark} status=${after.status} />`}
        ${isHashed && fault === undefined && html`<span class="good" title="The hash was recomputed here">✔ hash</span>`}
      </span>
      <span><${Shown} text=${description.sentence} /></span>
      ${fault !== undefined && html`<strong class="bad">✖ Event #${revision}: ${fault}</strong>`}
    </a>
  </li>`;
}

function gapText({ gapMs, actor }: HistoryStep): string {
  const duration = durationText(gapMs / 1000);
  const reactor = /^reactor (.+)$/.exec(actor)?.[1];
  return reactor === undefined ? `${duration} later` : `waited ${duration} for the ${reactor}`;
}

/** Recomputes the hashes of the stream in the browser. Returns the faults by revision; `undefined` until that is done. */
function useChainFaults(
  stream: string,
  events: readonly StreamEvent[] | undefined,
): ReadonlyMap<number, string> | undefined {
  const { value } = useLoaded(async () => events && faultTexts(await chainFaults(stream, events)), [events]);
  return value;
}

function faultTexts(faults: readonly ChainFault[]): ReadonlyMap<number, string> {
  const byRevision = Map.groupBy(faults, ({ revision }) => revision);
  return new Map(
    [...byRevision].map(([revision, some]) => [revision, some.map(({ text }) => text).join(', ')]),
  );
}
