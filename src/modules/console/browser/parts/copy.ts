import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../../shared/html.ts';

/** Copies a text; where a page on plain http has no clipboard, it selects the text in a field. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Shows an identifier or a command, and a button that copies all of it. */
export function Copyable({ text, shown = text }: { readonly text: string; readonly shown?: string }): VNode {
  const [state, setState] = useState<'idle' | 'copied' | 'select'>('idle');
  const copy = async (): Promise<void> => setState((await copied(text)) ? 'copied' : 'select');
  if (state === 'select') {
    const select = (input: HTMLInputElement | null): void => input?.select();
    return html`<input class="copy-field" readonly aria-label="Text to copy" value=${text} ref=${select} />`;
  }
  return html`<span class="copyable"
    ><code title=${text}>${shown}</code
    ><button type="button" class="icon" aria-label=${`Copy ${text}`} onClick=${copy}>
      ${state === 'copied' ? '✓' : '⧉'}
    </button></span
  >`;
}
