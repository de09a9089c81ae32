import type { GitDate } from '../events.ts';

const DATE_PATTERN =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]0+|(?<!24:00:00)[.,]\d+)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?(Z|[+-]\d\d:\d\d)?$/i;

/**
 * Parses `YYYY`, `YYYY-MM`, a date (also `YYYYMMDD`) or a date-time to whole seconds. Missing parts default to their
 * first value, a missing offset to UTC; 24:00 is the beginning of the next day.
 * Returns `undefined` for anything else, including days that do not exist.
 */
export function parseGitDate(text: string): GitDate | undefined {
  const parts = DATE_PATTERN.exec(text.trim().replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'));
  if (!parts) return undefined;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', timeZone, dayZone] =
    parts;
  if (timeZone !== undefined && dayZone !== undefined) return undefined;
  const zone = timeZone ?? dayZone ?? 'Z';
  const clock = `${hour}:${minute}:${second}`;
  const isMidnight = clock === '24:00:00';
  const iso = `${year}-${month}-${day}T${isMidnight ? '00:00:00' : clock}Z`;
  const time = Date.parse(iso);
  // Date.parse rolls 30 February over to March: a time that does not format back as written was no date.
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso.replace('Z', '.000Z')) return undefined;
  const offset = offsetOf(zone);
  const seconds = time / 1000 + (isMidnight ? 86_400 : 0);
  return offset && { seconds: seconds - offset.minutes * 60, offset: offset.text };
}

/** Converts an RFC 3339 time in UTC. */
export function gitDateOf(utc: string): GitDate {
  return { seconds: Math.floor(Date.parse(utc) / 1000), offset: '+0000' };
}

function offsetOf(zone: string): { minutes: number; text: string } | undefined {
  if (/^z$/i.test(zone)) return { minutes: 0, text: '+0000' };
  const sign = zone.startsWith('-') ? -1 : 1;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 14 || minutes > 59) return undefined;
  const text = `${zone[0]}${String(hours).padStart(2, '0')}${String(minutes).padStart(2, '0')}`;
  return { minutes: sign * (hours * 60 + minutes), text };
}
