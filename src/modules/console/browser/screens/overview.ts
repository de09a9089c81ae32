import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { statusAfter } from '../../../../domain/deposit/status-detail.ts';
import { html } from '../../protocol/html.ts';
import type { LiveChange } from '../../protocol/live-change.ts';
import type { OverviewData } from '../../protocol/overview.ts';
import { useChanges } from '../live.ts';
import { useRereadJson } from '../loaded.ts';
import { Pending } from '../parts/pending.ts';
import { Shown, Title } from '../parts/shown.ts';
import { STATUSES, StatusMark } from '../parts/status.ts';
import { Time } from '../parts/time.ts';
import { countText, numberText } from '../texts/count.ts';
import { useThrottled } from '../throttled.ts';
import type { ScreenProps } from './screen-props.ts';

/** Maximum number of lines of the feed. */
const FEED_LENGTH = 40;

/** Shows what needs a person, how many deposits there are, and what happens now. */
export function Overview({ boot }: ScreenProps): VNode {
  const [version, changed] = useThrottled();
  const loaded = useRereadJson<OverviewData>('/console/api/overview', version);
  const { value: data } = loaded;
  const [feed, setFeed] = useState<readonly LiveChange[]>([]);
  useChanges((change) => {
    setFeed((before) => [change, ...before].slice(0, FEED_LENGTH));
    changed();
  }, []);
  if (!data) return html`<${Pending} of=${loaded} />`;
  return html`
    <${Pending} of=${loaded} />
    ${data.service && html`<${NeedsYou} counts=${data.counts} service=${data.service} />`}
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">${boot.viewer.client === null ? 'Deposits' : `Deposits of ${boot.viewer.client}`}</h2>
      <${Counts} counts=${data.counts} />
    </section>
    <section class="panel" aria-labelledby="feed">
      <h2 id="feed">Now</h2>
      <div class="now"><${Feed} feed=${feed} /></div>
    </section>
    <section class="panel" aria-labelledby="recent">
      <h2 id="recent">Latest changes</h2>
      <${Recent} rows=${data.recent} />
    </section>
  `;
}

type NeedsProps = {
  readonly counts: OverviewData['counts'];
  readonly service: NonNullable<OverviewData['service']>;
};

/** The most urgent first. */
function NeedsYou({ counts, service }: NeedsProps): VNode {
  const { problem, views, stuck, parked, rejected } = service;
  const list = '/console/deposits?status=';
  const needs = [
    problem !== null && html`<li>${problem}</li>`,
    views && html`<li>The views are ${views.seconds} s behind the log.</li>`,
    ...Object.entries(stuck.counts).map(([status, count]) =>
      item(count, 'stuck deposit', `${list}${status}&until=${stuck.until}`, ` (${status})`),
    ),
    item(parked, 'parked event', '/console/work'),
    item(counts['failed'], 'failed load', `${list}failed`),
    item(
      rejected.count,
      'rejected deposit',
      `${list}rejected&since=${rejected.since}`,
      ` since ${rejected.since}`,
    ),
  ].filter((need) => need);
  return html`<section class="panel needs" aria-labelledby="needs">
    <h2 id="needs">Needs you</h2>
    ${needs.length > 0 ? html`<ul>${needs}</ul>` : html`<p><span class="good" aria-hidden="true">✔</span> Nothing needs you.</p>`}
  </section>`;
}

function item(count = 0, noun: string, href: string, more = ''): VNode | undefined {
  return count === 0 ? undefined : html`<li><a href=${href}>${countText(count, noun)}${more}</a></li>`;
}

function Counts({ counts }: { readonly counts: OverviewData['counts'] }): VNode {
  return html`<ul class="counts">
    ${STATUSES.map(
      (status) => html`<li class=${counts[status] ? undefined : 'zero'}>
        <a href=${`/console/deposits?status=${status}`}>
          <${StatusMark} status=${status} />
          <strong class="number">${numberText(counts[status] ?? 0)}</strong>
        </a>
      </li>`,
    )}
  </ul>`;
}

function Feed({ feed }: { readonly feed: readonly LiveChange[] }): VNode {
  if (feed.length === 0) return html`<p class="quiet">Changes appear here as they happen.</p>`;
  return html`<ol class="feed">
    ${feed.map(
      ({ depositId, revision, type, at, sentence, actor, row }) => html`<li
        key=${`${depositId} ${revision}`}
      >
        <${Time} at=${at} isShort />
        <a href=${`/console/deposits/${depositId}`}>${depositId}</a>
        <span>${statusAfter(type) && html`<${StatusMark} status=${statusAfter(type)} />`}</span>
        <span><${Shown} text=${sentence} /></span>
        <span class="quiet">${actor.kind} <${Shown} text=${actor.name} />${row && ` · ${row.client} / ${row.collection}`}</span>
      </li>`,
    )}
  </ol>`;
}

function Recent({ rows }: { readonly rows: OverviewData['recent'] }): VNode {
  if (rows.length === 0)
    return html`<p class="quiet">There is no deposit yet. Deposits appear here as soon as a client sends them.</p>`;
  return html`<ol class="feed">
    ${rows.map(
      ({ depositId, updatedAt, status, title, client, collection }) => html`<li key=${depositId}>
        <${Time} at=${updatedAt} />
        <a href=${`/console/deposits/${depositId}`}>${depositId}</a>
        <span><${StatusMark} status=${status} /></span>
        <span><${Title} title=${title} /></span>
        <span class="quiet">${client} / ${collection}</span>
      </li>`,
    )}
  </ol>`;
}
