import type { VNode } from 'preact';
import { unescapePath } from '../../proof/manifest.ts';
import { html } from '../../protocol/html.ts';
import type { SummaryRow } from '../deposit/deposit-summary.ts';
import { useJson, useLoaded } from '../loaded.ts';
import { Copyable } from '../parts/copy.ts';
import { Pending } from '../parts/pending.ts';
import { Name } from '../parts/shown.ts';
import { Tabs } from '../parts/tabs.ts';
import { type Place, withQuery } from '../router.ts';
import { countText } from '../texts/count.ts';
import { EntryTable } from './directory-table.ts';
import { loadText } from './load-text.ts';
import { Paged, pageOf } from './pages.ts';
import { nameText } from './tree.ts';

type Reading = {
  readonly archive: string;
  readonly format: string;
  readonly files: number;
  readonly bytes: number;
};
type Member = {
  readonly path: string;
  readonly mode: string;
  readonly id?: string;
  readonly length?: number;
};

type Props = { readonly row: SummaryRow; readonly place: Place };

/** Lists what a check found in the archives of a deposit that is not loaded, in one archive at a time. */
export function Listings({ row, place }: Props): VNode {
  const loaded = useJson<{ readonly readings: readonly Reading[] }>(
    `/console/api/deposits/${row.depositId}/listings`,
    row.revision,
  );
  const { value } = loaded;
  if (!value) return html`<${Pending} of=${loaded} />`;
  // Archives with the same bytes have equal readings.
  const readings = [...new Map(value.readings.map((one) => [one.archive, one])).values()];
  const reading = readings.find(({ archive }) => archive === place.query.get('archive')) ?? readings[0];
  if (!reading)
    return html`<p class="quiet">No check has accepted the archives, so their contents are not known.</p>`;
  return html`
    <p class="quiet">The deposit is not loaded. This is what the last check found in ${value.readings.length === 1 ? 'its archive' : 'its archives'}.</p>
    ${
      readings.length > 1 &&
      html`<${Tabs} label="Archives" tabs=${readings.map(({ archive }) => ({
        href: withQuery({ archive, from: null }),
        text: html`<${Name} text=${nameOf(archive, row)} />`,
        isCurrent: archive === reading.archive,
      }))} />`
    }
    <${Listing} row=${row} reading=${reading} query=${place.query} />
  `;
}

/** Returns the names under which a deposit has an archive. */
function nameOf(archive: string, { archives }: SummaryRow): string {
  const names = archives.filter(({ sha256 }) => sha256 === archive).map(({ filename }) => filename);
  return [...new Set(names)].join(', ') || archive;
}

type ListingProps = { readonly row: SummaryRow; readonly reading: Reading; readonly query: URLSearchParams };

function Listing({ row, reading, query }: ListingProps): VNode {
  const { archive, format, files, bytes } = reading;
  const name = nameOf(archive, row);
  const loaded = useLoaded(
    async (reading) =>
      membersIn(await loadText(`/console/api/deposits/${row.depositId}/listings/${archive}`, reading)),
    [archive],
  );
  return html`<section aria-label=${`Archive ${name}`}>
    <h2><${Name} text=${name} /></h2>
    <p class="quiet">${format}, ${countText(files, 'file')} of ${countText(bytes, 'byte')}</p>
    <${Pending} of=${loaded} />
    ${loaded.value && html`<${Members} members=${loaded.value} query=${query} />`}
  </section>`;
}

type MembersProps = { readonly members: readonly Member[]; readonly query: URLSearchParams };

function Members({ members, query }: MembersProps): VNode {
  const page = pageOf(query, 'from', members, ({ path }) => path);
  const rows = page.items.map(({ path, mode, id, length }) => ({
    name: html`<${Name} text=${nameText(path)} />`,
    mode,
    ...(length !== undefined && { length }),
    swhid: id === undefined ? undefined : html`<${Copyable} text=${`swh:1:cnt:${id}`} />`,
  }));
  return html`<${Paged} page=${page} what="Entries"><${EntryTable} heading="Path" rows=${rows} /></${Paged}>`;
}

/** Parses a listing: a header, and a line for each member. @throws {Error} the text is something else */
function membersIn(text: string): Member[] {
  const [header = '', ...lines] = text.split('\n');
  const { listing } = JSON.parse(header) as { readonly listing?: number };
  if (listing !== 1 || lines.pop() !== '') throw new Error('The text is not a listing of version 1.');
  return lines.map((line) => {
    const member = JSON.parse(line) as Member;
    return { ...member, path: unescapePath(member.path) };
  });
}
