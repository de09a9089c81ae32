import type { VNode } from 'preact';
import { unescapePath } from '../../proof/manifest.ts';
import { html } from '../../protocol/html.ts';
import type { SummaryRow } from '../deposit/deposit-summary.ts';
import { useJson, useLoaded } from '../loaded.ts';
import { Copyable } from '../parts/copy.ts';
import { Pending } from '../parts/pending.ts';
import { Shown } from '../parts/shown.ts';
import { KINDS } from './directory-table.ts';
import { loadText } from './load-text.ts';
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

/** Maximum number of members that are shown. */
const MAX_SHOWN = 1000;

/** Lists what a check found in the archives of a deposit that is not loaded. */
export function Listings({ row }: { readonly row: SummaryRow }): VNode {
  const loaded = useJson<{ readonly readings: readonly Reading[] }>(
    `/console/api/deposits/${row.depositId}/listings`,
    row.revision,
  );
  const { value } = loaded;
  if (!value) return html`<${Pending} of=${loaded} />`;
  if (value.readings.length === 0)
    return html`<p class="quiet">No check has accepted the archives, so their contents are not known.</p>`;
  return html`
    <p class="quiet">The deposit is not loaded. Its archives contain:</p>
    ${value.readings.map((reading) => html`<${Listing} key=${reading.archive} row=${row} reading=${reading} />`)}
  `;
}

function Listing({ row, reading }: { readonly row: SummaryRow; readonly reading: Reading }): VNode {
  const { archive, format, files, bytes } = reading;
  const name = row.archives.find(({ sha256 }) => sha256 === archive)?.filename ?? archive;
  const loaded = useLoaded(
    async (reading) =>
      membersIn(await loadText(`/console/api/deposits/${row.depositId}/listings/${archive}`, reading)),
    [archive],
  );
  return html`<section aria-label=${`Archive ${name}`}>
    <h2><${Shown} text=${name} /></h2>
    <p class="quiet">${format}, ${files.toLocaleString('en')} files of ${bytes.toLocaleString('en')} bytes</p>
    <${Pending} of=${loaded} />
    ${loaded.value && html`<${Members} members=${loaded.value} />`}
  </section>`;
}

function Members({ members }: { readonly members: readonly Member[] }): VNode {
  return html`
    <table class="list tree">
      <thead><tr><th>Path</th><th>Kind</th><th>Bytes</th><th>SWHID</th></tr></thead>
      <tbody>
        ${members.slice(0, MAX_SHOWN).map(
          ({ path, mode, id, length }) => html`<tr>
            <td data-label="Path"><${Shown} text=${nameText(path)} /></td>
            <td data-label="Kind">${KINDS[mode] ?? mode}</td>
            <td data-label="Bytes" class="number">${length?.toLocaleString('en')}</td>
            <td data-label="SWHID">${id !== undefined && html`<${Copyable} text=${`swh:1:cnt:${id}`} />`}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${members.length > MAX_SHOWN && html`<p class="quiet">Only the first ${MAX_SHOWN.toLocaleString('en')} of ${members.length.toLocaleString('en')} are shown.</p>`}
  `;
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
