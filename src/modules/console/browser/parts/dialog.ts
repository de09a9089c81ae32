import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../../protocol/html.ts';

/** A modal dialog: opened when it is rendered, and closed by Escape, which calls `onClose`. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}): VNode {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return html`<dialog ref=${element} aria-labelledby="dialog-title" onClose=${onClose}>
    <h2 id="dialog-title">${title}</h2>
    ${children}
  </dialog>`;
}
