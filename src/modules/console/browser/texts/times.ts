const pad = (value: number): string => String(value).padStart(2, '0');

type Zone = 'utc' | 'local';

/** Returns a time with its zone, to the second, such as `2026-01-31 12:00:00 UTC`. */
export function timeText(date: Date, zone: Zone): string {
  const minutes = zone === 'utc' ? 0 : -date.getTimezoneOffset();
  const shifted = new Date(date.getTime() + minutes * 60_000).toISOString();
  return `${shifted.slice(0, 19).replace('T', ' ')} ${zoneName(zone, date)}`;
}

/** Returns the name that a zone has at a time, such as `UTC` or `UTC+2`. */
export function zoneName(zone: Zone, date = new Date()): string {
  const minutes = zone === 'utc' ? 0 : -date.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.trunc(Math.abs(minutes) / 60)}${rest === 0 ? '' : `:${pad(rest)}`}`;
}

/** Returns a duration in the unit that fits it, such as `3.2 s` or `5 h`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
