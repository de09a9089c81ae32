import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../../protocol/html.ts';
import { Store } from '../store.ts';

/** Copies a text; where a page on plain http has no clipboard, it selects the text in a field. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Says what was copied last: a mark on a button is not read aloud. */
export const copied = new Store('');

/** Two sheets; drawn, since few fonts have a character for it. */
function CopyIcon(): VNode {
  return html`<svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
    <path d="M5.5 5.5h8v8h-8zM10.5 3v-.5h-8v8H3" fill="none" stroke="currentColor" stroke-width="1.5" />
  </svg>`;
}

/** Shows an identifier or a command, and a button that copies all of it. */
export function Copyable({ text, shown = text }: { readonly text: string; readonly shown?: string }): VNode {
  const [last, setLast] = useState({ text: '', isCopied: false });
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text);
    setLast({ text, isCopied });
    if (isCopied) copied.value = `Copied: ${shown}`;
  };
  const isAsked = last.text === text; // the next page of a list shows another text here
  if (isAsked && !last.isCopied) {
    const select = (input: HTMLInputElement | null): void => input?.select();
    return html`<input class="copy-field" readonly aria-label="Text to copy" value=${text} ref=${select} />`;
  }
  return html`<span class="copyable"
    ><code title=${text}>${shown}</code
    ><button type="button" class="icon" aria-label=${`Copy ${text}`} onClick=${copy}>
      ${isAsked ? '✓' : html`<${CopyIcon} />`}
    </button></span
  >`;
}
