import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { preferences } from '../preferences.ts';
import { useStore } from '../store.ts';

const pad = (value: number): string => String(value).padStart(2, '0');

/** Returns a time in the chosen zone, to the second. */
function timeText(date: Date, zone: 'utc' | 'local'): string {
  if (zone === 'utc') return date.toISOString().slice(0, 19).replace('T', ' ');
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join('-');
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** Returns the name of the chosen zone, such as `UTC` or `UTC+2`. */
export function zoneName(zone: 'utc' | 'local'): string {
  const minutes = zone === 'utc' ? 0 : -new Date().getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.trunc(Math.abs(minutes) / 60)}${rest === 0 ? '' : `:${pad(rest)}`}`;
}

/** Shows a time of the service in the zone of the reader; both are in its title. */
export function Time({ at, isShort = false }: { readonly at: string; readonly isShort?: boolean }): VNode {
  const { zone } = useStore(preferences);
  const date = new Date(at);
  const text = timeText(date, zone);
  const title = `${timeText(date, 'utc')} UTC · ${timeText(date, 'local')} ${zoneName('local')}`;
  return html`<time datetime=${at} title=${title}>${isShort ? text.slice(11) : text}</time>`;
}

/** Returns a duration in the unit that fits it, such as `3.2 s` or `5 h`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
