import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import type { Loaded } from '../loaded.ts';
import { Shown } from './shown.ts';

/** Shows why something failed, if it did. */
export function Problem({ text }: { readonly text: string | undefined }): VNode {
  return html`${text !== undefined && html`<p class="problem" role="alert"><${Shown} text=${text} /></p>`}`;
}

type PendingProps = { readonly of: Loaded<unknown>; readonly text?: string };

/** Says that a value is being loaded, or why it could not be; nothing once it is there. */
export function Pending({ of: { value, problem }, text = 'Loading …' }: PendingProps): VNode {
  if (value !== undefined || problem !== undefined) return html`<${Problem} text=${problem} />`;
  return html`<p class="loading" role="status">${text}</p>`;
}
