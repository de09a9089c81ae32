import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../../protocol/html.ts';
import { showPart } from '../kept-scroll.ts';
import { useLoaded } from '../loaded.ts';
import { Copyable } from '../parts/copy.ts';
import { Pending } from '../parts/pending.ts';
import { navigate, withQuery } from '../router.ts';
import { NodeHead, type NodeProps } from './directory-table.ts';
import { linesOf } from './line-difference.ts';
import { loadFileText, MAX_TEXT_BYTES } from './load-text.ts';
import { LineText, Paged, pageOf } from './pages.ts';
import { bytesUrl, qualifiedSwhid } from './swhid-context.ts';

/** A file as text with numbered lines, which can be selected; never as something that the browser interprets. */
export function FileView(props: NodeProps): VNode {
  const { node, depositId, context, mayRead, place } = props;
  const isShown = mayRead && (node.length ?? 0) <= MAX_TEXT_BYTES;
  const loaded = useLoaded(
    async (reading) => (isShown ? await loadFileText(bytesUrl(depositId, node), reading) : undefined),
    [node.id, isShown],
  );
  const chosen = rangeIn(place.query.get('lines'));
  const lines = chosen && rangeText(chosen);
  return html`<section aria-label="File">
    <${NodeHead} ...${props} />
    ${lines !== undefined && html`<p>${lines.includes('-') ? 'Lines' : 'Line'} ${lines}: <${Copyable} text=${qualifiedSwhid(node, context, lines)} /></p>`}
    ${!mayRead && html`<p class="quiet">Your role may not read the contents of files.</p>`}
    ${mayRead && !isShown && html`<p class="quiet">The file is too large to be shown: download it.</p>`}
    ${isShown && html`<${Pending} of=${loaded} />`}
    ${loaded.value !== undefined && html`<${Lines} text=${loaded.value} chosen=${chosen} query=${place.query} />`}
  </section>`;
}

/** The first and the last of the chosen lines, from 1. */
type Range = { readonly first: number; readonly last: number };

type LinesProps = {
  readonly text: string;
  readonly chosen: Range | undefined;
  readonly query: URLSearchParams;
};

function Lines({ text, chosen, query }: LinesProps): VNode {
  const rows = useRef<HTMLElement>(null);
  useEffect(() => showPart(rows.current?.querySelector('.chosen')), []);
  const lines = linesOf(text);
  if (lines.length === 0) return html`<p class="quiet">The file is empty.</p>`;
  const page = pageOf(query, 'from', lines, (line) => line, chosen?.first);
  const choose = (event: MouseEvent, line: number): void => {
    event.preventDefault();
    const range = event.shiftKey && chosen ? joinedRange(chosen, line) : { first: line, last: line };
    navigate(withQuery({ lines: rangeText(range) }), { replace: true });
  };
  const isChosen = (line: number): boolean =>
    chosen !== undefined && line >= chosen.first && line <= chosen.last;
  return html`<${Paged} page=${page} what="Lines"><div class="source" role="region" aria-label="Lines" tabindex="0"><table>
    <tbody ref=${rows}>
      ${page.items.map((line, index) => {
        const number = page.first + index;
        return html`<tr class=${isChosen(number) ? 'chosen' : ''}>
          <td class="line-number">
            <a
              href=${withQuery({ lines: String(number) })}
              aria-label=${`Line ${number}`}
              onClick=${(event: MouseEvent) => choose(event, number)}
              >${number}</a
            >
          </td>
          <td><${LineText} text=${line} /></td>
        </tr>`;
      })}
    </tbody>
  </table></div></${Paged}>`;
}

function rangeIn(text: string | null): Range | undefined {
  const [, first, last = first] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(text ?? '') ?? [];
  return first === undefined ? undefined : { first: Number(first), last: Number(last) };
}

function joinedRange({ first, last }: Range, line: number): Range {
  return { first: Math.min(first, line), last: Math.max(last, line) };
}

function rangeText({ first, last }: Range): string {
  return first === last ? String(first) : `${first}-${last}`;
}
