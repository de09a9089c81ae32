import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { unescapePath } from '../../proof/manifest.ts';
import { columnsIn } from '../../protocol/columns.ts';
import { html } from '../../protocol/html.ts';
import { MAX_FOUND, type SearchResult } from '../../protocol/search-result.ts';
import { nameText } from '../files/tree.ts';
import { DepositTable } from '../list/deposit-table.ts';
import { useJson } from '../loaded.ts';
import { Pending } from '../parts/pending.ts';
import { Name, Shown } from '../parts/shown.ts';
import { navigate } from '../router.ts';
import { countText } from '../texts/count.ts';
import type { ScreenProps } from './screen-props.ts';

/** Texts that name one thing: a single hit is opened at once. */
const NAMES_ONE: readonly SearchResult['understoodAs'][] = [
  'deposit id',
  'UUID of a deposit',
  'event id',
  'correlation id',
  'SWHID',
  'id of an object',
  'digest of an archive',
  'origin',
];

/** The answer to the search box: what the text was taken for, and the deposits that it names. */
export function Search({ place }: ScreenProps): VNode {
  const text = place.query.get('q') ?? '';
  const loaded = useJson<SearchResult>(`/console/api/search?q=${encodeURIComponent(text)}`, 0);
  const { value: data } = loaded;
  const [only, ...others] = data?.deposits ?? [];
  const opened =
    data && only && others.length === 0 && NAMES_ONE.includes(data.understoodAs) ? only.depositId : undefined;
  useEffect(() => {
    if (opened !== undefined) navigate(`/console/deposits/${opened}${placeIn(data)}`, { replace: true });
  }, [opened]);
  if (!data) return html`<${Pending} of=${loaded} text="Searching …" />`;
  const count = data.deposits.length;
  return html`
    <p role="status">
      <strong>${capitalized(data.understoodAs)}</strong> “<${Shown} text=${text} />”:${' '}
      ${count === 0 ? 'no deposit.' : `${count === MAX_FOUND ? 'the newest ' : ''}${countText(count, 'deposit')}.`}
      ${data.path !== null && html` It is <code><${Name} text=${`/${nameText(unescapePath(data.path))}`} /></code> there.`}
      ${data.limit !== null && html` ${data.limit}`}
    </p>
    ${count === 0 && html`<p class="quiet">Words are found in titles, authors, names of archives, slugs, external identifiers and origins. <a href="/console/deposits">Search the list by filters</a></p>`}
    ${count > 0 && html`<${DepositTable} columns=${columnsIn(place.query)} rows=${data.deposits} selected=${undefined} onSelect=${() => undefined} />`}
    ${
      data.list !== null &&
      (count > 0 || data.limit !== null) &&
      html`<p><a class="button" href=${`/console/deposits?${data.list}`}>${count > 0 ? 'Show them in the list' : 'Continue in the list'}</a></p>`
    }
  `;
}

/** Returns the query that shows in a deposit what the text names: an event, or a file with its lines, or a directory. */
function placeIn(data: SearchResult | undefined): string {
  if (data?.event != null) return `?at=${data.event}`;
  if (data?.path == null) return '';
  return `?tab=files&path=${encodeURIComponent(data.path)}${data.lines === null ? '' : `&lines=${data.lines}`}`;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
