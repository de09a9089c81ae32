import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';

/** A sign for each status, in the order in which they follow each other: colour is not its only mark. */
const SIGNS = new Map(
  Object.entries({
    partial: '◔',
    deposited: '◑',
    verified: '◕',
    loading: '↻',
    done: '●',
    rejected: '✕',
    failed: '!',
    deleted: '–',
  }),
);

/** The statuses of the deposits that exist, in that order. */
export const STATUSES = [...SIGNS.keys()].filter((status) => status !== 'deleted');

/** Shows the status of a deposit as a sign and a word. */
export function StatusMark({ status }: { readonly status: string }): VNode {
  return html`<span class=${`status status-${status}`}
    ><span aria-hidden="true">${SIGNS.get(status) ?? '?'}</span> ${status}</span
  >`;
}
