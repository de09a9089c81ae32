/** A date; or a time with its zone, in the form of RFC 3339 or as pages show it. Seconds may be missing. */
const MOMENT =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|UTC|(?:UTC)?([+−-])([01]?\d|2[0-3])(?::([0-5]\d))?))?$/i;

/** Parses a time that a reader gives, to milliseconds since 1970; a date is its beginning in UTC. `undefined` for others. */
export function momentOf(text: string): number | undefined {
  const [, date, time = '00:00', sign = '+', hours = '0', minutes = '0'] = MOMENT.exec(text.trim()) ?? [];
  const utc = Date.parse(`${date}T${time}Z`);
  // Some browsers take the 31st of February for a day of March.
  if (date === undefined || Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(date))
    return undefined;
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '+' ? utc - ahead : utc + ahead;
}

/** Says that a text is not a time. */
export function notAMoment(text: string): string {
  return `“${text}” is neither a time with its zone, as 2026-03-01T10:00Z, nor a date.`;
}
