import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import type { Reading } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { openWorker } from '../parts/console-worker.ts';
import { Pending } from '../parts/pending.ts';
import { numberText } from '../texts/count.ts';
import { type ComparedLine, MAX_CHANGES, MAX_LINES } from './line-difference.ts';
import type { ComparedTexts } from './line-difference-worker.ts';
import { loadFileText, MAX_TEXT_BYTES } from './load-text.ts';
import { LineText, Paged, pageOf } from './pages.ts';
import { bytesUrl } from './swhid-context.ts';
import type { TreeNode } from './tree.ts';

type Side = { readonly depositId: number; readonly node: TreeNode };

type ChangedLinesProps = { readonly before: Side; readonly after: Side; readonly query: URLSearchParams };

/** Shows the lines of a file that differ between two deposits. */
export function ChangedLines({ before, after, query }: ChangedLinesProps): VNode {
  const isTooLarge = [before, after].some(({ node }) => (node.length ?? 0) > MAX_TEXT_BYTES);
  const loaded = useLoaded(
    async (reading) => (isTooLarge ? undefined : { places: await compared(before, after, reading) }),
    [before.node.id, after.node.id],
  );
  const tooMuch = `The file is not compared by lines: that has at most 1 MiB, ${numberText(MAX_LINES)} lines and ${numberText(MAX_CHANGES)} changes. Download both files.`;
  const { value, problem } = loaded;
  if (problem !== undefined) return html`<p class="quiet">${problem}</p>`;
  if (isTooLarge || (value && !value.places)) return html`<p class="quiet">${tooMuch}</p>`;
  if (!value?.places) return html`<${Pending} of=${loaded} text="Comparing …" />`;
  const lines = value.places.flatMap((place, index) => place.map((line) => ({ ...line, index })));
  const count = lines.filter(({ kind }) => kind !== 'same').length;
  if (count === 0)
    return html`<p class="quiet">The files differ only in whether the last line ends with a line feed.</p>`;
  const page = pageOf(query, 'change', lines, ({ text }) => text);
  const places = [...Map.groupBy(page.items, ({ index }) => index).values()];
  return html`<section aria-label="Changed lines">
    <h3>Lines that differ from deposit ${before.depositId}: ${numberText(count)}</h3>
    <${Paged} page=${page} what="Lines with changes"><div class="source" role="region" aria-label="Differences" tabindex="0"><table>
      ${places.map((some) => html`<tbody>${some.map((line) => html`<${Line} line=${line} />`)}</tbody>`)}
    </table></div></${Paged}>
  </section>`;
}

const SIGNS = { same: '', removed: '−', added: '+' } as const;

function Line({ line: { kind, text, before, after } }: { readonly line: ComparedLine }): VNode {
  const shown = html`<${LineText} text=${text} />`;
  return html`<tr class=${`line-${kind}`}>
    <td class="line-number">${before}</td>
    <td class="line-number">${after}</td>
    <td class="line-number">${SIGNS[kind]}</td>
    <td>${kind === 'same' ? shown : kind === 'added' ? html`<ins>${shown}</ins>` : html`<del>${shown}</del>`}</td>
  </tr>`;
}

/** Resolves to the places that differ; `undefined` if there is too much to compare. */
async function compared(
  before: Side,
  after: Side,
  reading: Reading,
): Promise<readonly (readonly ComparedLine[])[] | undefined> {
  const [old, present] = await Promise.all(
    [before, after].map(({ depositId, node }) => loadFileText(bytesUrl(depositId, node), reading)),
  );
  const worker = openWorker(new URL('./line-difference-worker.ts', import.meta.url));
  reading.signal?.addEventListener('abort', () => worker.terminate());
  try {
    return await new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<ComparedLine[][] | undefined>) =>
        resolve(data),
      );
      worker.addEventListener('error', () => reject(new Error('The comparison could not be started.')));
      worker.postMessage({ before: old ?? '', after: present ?? '' } satisfies ComparedTexts);
    });
  } finally {
    worker.terminate();
  }
}
