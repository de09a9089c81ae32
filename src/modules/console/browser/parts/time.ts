import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { preferences } from '../preferences.ts';
import { useStore } from '../store.ts';
import { timeText } from '../texts/times.ts';
import { Shown } from './shown.ts';

/**
 * Shows a time of the service in the zone that the reader chose; the other one is in its title. An event that was tampered
 * with may have any text in its place.
 */
export function Time({ at, isShort = false }: { readonly at: string; readonly isShort?: boolean }): VNode {
  const { zone } = useStore(preferences);
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return html`<${Shown} text=${at} />`;
  const text = timeText(date, zone);
  const title = `${timeText(date, 'utc')} · ${timeText(date, 'local')}`;
  const parts = isShort ? [] : [html`<span>${text.slice(0, 10)}</span>`, ' '];
  return html`<time datetime=${at} title=${title}>${parts}<span>${text.slice(11)}</span></time>`;
}
