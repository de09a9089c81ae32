import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { nameParts } from '../texts/names.ts';
import { type TextPart, visibleParts } from '../texts/visible.ts';

/** Shows a text that others have chosen: each hidden character is marked, and the direction stays inside. */
export function Shown({ text }: { readonly text: string }): VNode {
  return html`<${Parts} parts=${visibleParts(text)} />`;
}

/** Shows a name that others have chosen, such as that of a file: no other name looks the same. */
export function Name({ text }: { readonly text: string }): VNode {
  return html`<${Parts} parts=${nameParts(text)} />`;
}

function Parts({ parts }: { readonly parts: readonly TextPart[] }): VNode {
  return html`<bdi
    >${parts.map((part) =>
      part.isHidden
        ? html`<mark class="hidden" title="A character that is not shown">${part.text}</mark>`
        : part.text,
    )}</bdi
  >`;
}

export function Title({ title }: { readonly title: string | null }): VNode {
  return title === null ? html`<span class="quiet">no title</span>` : html`<${Name} text=${title} />`;
}

/** Shows a value as JSON on several lines. */
export function ShownJson({ value }: { readonly value: unknown }): VNode {
  return html`<pre class="json"><${Shown} text=${JSON.stringify(value, undefined, 2) ?? 'nothing'} /></pre>`;
}
