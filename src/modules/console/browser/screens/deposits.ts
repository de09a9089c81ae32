import type { VNode } from 'preact';
import { type DepositPage, type DepositRow, filterIn } from '../../shared/deposit-list.ts';
import { html } from '../../shared/html.ts';
import { useFetched } from '../fetched.ts';
import { Copyable } from '../parts/copy.ts';
import { StatusMark } from '../parts/status.ts';
import { Time } from '../parts/time.ts';
import { withQuery } from '../router.ts';
import type { ScreenProps } from './screen-props.ts';

const STATUSES = ['partial', 'deposited', 'verified', 'loading', 'done', 'rejected', 'failed'];

/** The table of deposits; its filters are in the address. */
export function Deposits({ place }: ScreenProps): VNode {
  const filter = filterIn(place.query);
  const asked = new URLSearchParams(filter);
  const before = place.query.get('before');
  if (before !== null) asked.set('before', before);
  const { data, problem } = useFetched<DepositPage>(`/console/api/deposits?${asked.toString()}`);
  return html`
    <ul class="tabs" aria-label="Statuses">
      ${[undefined, ...STATUSES].map(
        (status) => html`<li>
          <a
            href=${withQuery({ status: status ?? null, before: null })}
            aria-current=${filter.status === status ? 'true' : undefined}
          >
            ${status === undefined ? 'all' : html`<${StatusMark} status=${status} />`}
            ${status !== undefined && data?.counts ? html` <span class="number">${data.counts[status] ?? 0}</span>` : ''}
          </a>
        </li>`,
      )}
    </ul>
    ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
    ${data ? html`<${Table} rows=${data.rows} />` : html`<p role="status">Loading …</p>`}
    ${data && data.next !== null && html`<p><a href=${withQuery({ before: String(data.next) })}>Older deposits</a></p>`}
  `;
}

function Table({ rows }: { readonly rows: readonly DepositRow[] }): VNode {
  return html`<table class="list">
    <thead>
      <tr>
        <th scope="col">Id</th>
        <th scope="col">Title</th>
        <th scope="col">Client / collection</th>
        <th scope="col">Status</th>
        <th scope="col">Changed</th>
        <th scope="col">SWHID</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ depositId, title, client, collection, status, updatedAt, swhid }) => html`<tr key=${depositId}>
          <td data-label="Id"><a href=${`/console/deposits/${depositId}`}>${depositId}</a></td>
          <td data-label="Title">${title ?? html`<span class="quiet">no title</span>`}</td>
          <td data-label="Client / collection">${client} / ${collection}</td>
          <td data-label="Status"><${StatusMark} status=${status} /></td>
          <td data-label="Changed"><${Time} at=${updatedAt} /></td>
          <td data-label="SWHID">
            ${swhid !== null && html`<${Copyable} text=${swhid} shown=${`${swhid.slice(0, 20)}…`} />`}
          </td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
