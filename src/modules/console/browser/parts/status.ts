import type { VNode } from 'preact';
import { isStatus, type Status } from '../../../../domain/deposit/status-detail.ts';
import { html } from '../../protocol/html.ts';

/** A sign for each status, in the order of the screens: colour is not its only mark. */
const SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    partial: '◔',
    deposited: '◑',
    verified: '◕',
    loading: '↻',
    done: '●',
    rejected: '✕',
    failed: '!',
    deleted: '–',
  } satisfies Record<Status | 'deleted', string>),
);

export const STATUSES = [...SIGNS.keys()].filter(isStatus);

/** Shows the status of a deposit as a sign and a word. */
export function StatusMark({ status }: { readonly status: string }): VNode {
  return html`<span class=${`status status-${status}`}
    ><span aria-hidden="true">${SIGNS.get(status) ?? '?'}</span> ${status}</span
  >`;
}
