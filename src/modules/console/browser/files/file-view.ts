import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { Copyable } from '../parts/copy.ts';
import { useLoaded } from '../parts/loaded.ts';
import { Shown } from '../parts/shown.ts';
import { navigate, type Place, withQuery } from '../router.ts';
import { NodeHead, type NodeProps } from './directory-table.ts';
import { loadBytes } from './load-text.ts';
import { bytesUrl, qualifiedSwhid } from './swhid-context.ts';

/** Maximum bytes of a file that is shown as text. */
const MAX_TEXT_BYTES = 1024 ** 2;

type Props = NodeProps & { readonly place: Place };

/** A file as text with numbered lines, which can be selected; never as something that the browser interprets. */
export function FileView({ place, ...props }: Props): VNode {
  const { node, depositId, context, mayRead } = props;
  const isShown = mayRead && (node.length ?? 0) <= MAX_TEXT_BYTES;
  const { value, error } = useLoaded(
    async (signal) => (isShown ? textIn(await loadBytes(bytesUrl(depositId, node), signal)) : undefined),
    [node.id, isShown],
  );
  const chosen = rangeIn(place.query.get('lines'));
  const lines = chosen && rangeText(chosen);
  return html`<section aria-label="File">
    <${NodeHead} ...${props} />
    ${lines !== undefined && html`<p>${lines.includes('-') ? 'Lines' : 'Line'} ${lines}: <${Copyable} text=${qualifiedSwhid(node, context, lines)} /></p>`}
    ${!mayRead && html`<p class="quiet">Your role may not read the contents of files.</p>`}
    ${mayRead && !isShown && html`<p class="quiet">The file is too large to be shown: download it.</p>`}
    ${error !== undefined && html`<p class="problem" role="alert">${error}</p>`}
    ${isShown && value === undefined && error === undefined && html`<p class="loading" role="status">Loading …</p>`}
    ${value !== undefined && html`<${Lines} text=${value} chosen=${chosen} />`}
  </section>`;
}

/** The first and the last of the chosen lines, from 1. */
type Range = { readonly first: number; readonly last: number };

function Lines({ text, chosen }: { readonly text: string; readonly chosen: Range | undefined }): VNode {
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const choose = (event: MouseEvent, line: number): void => {
    event.preventDefault();
    const range = event.shiftKey && chosen ? joinedRange(chosen, line) : { first: line, last: line };
    navigate(withQuery({ lines: rangeText(range) }), { replace: true });
  };
  const isChosen = (line: number): boolean =>
    chosen !== undefined && line >= chosen.first && line <= chosen.last;
  return html`<div class="source" role="region" aria-label="Lines" tabindex="0"><table>
    <tbody>
      ${lines.map((line, index) => {
        const number = index + 1;
        return html`<tr class=${isChosen(number) ? 'chosen' : ''}>
          <td class="line-number">
            <a
              href=${withQuery({ lines: String(number) })}
              aria-label=${`Line ${number}`}
              onClick=${(event: MouseEvent) => choose(event, number)}
              >${number}</a
            >
          </td>
          <td><${Shown} text=${line} /></td>
        </tr>`;
      })}
    </tbody>
  </table></div>`;
}

/** Decodes a file as UTF-8; one with a NUL byte or other bytes is not text. */
function textIn(bytes: Uint8Array<ArrayBuffer>): string {
  if (bytes.includes(0)) throw new Error('The file is not text: download it.');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('The file is not text in UTF-8: download it.');
  }
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
