import type { ComponentChildren, VNode } from 'preact';
import { html } from '../../protocol/html.ts';

type Tab = { readonly href: string; readonly text: ComponentChildren; readonly isCurrent: boolean };

/** Links to the parts of a page, of which one is shown. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }): VNode {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(({ href, text, isCurrent }) => html`<a href=${href} aria-current=${isCurrent ? 'page' : undefined}>${text}</a>`)}
  </nav>`;
}
