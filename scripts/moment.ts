import { parseGitDate } from '../src/domain/deposit/git-date.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Milliseconds of an RFC 3339 time; `undefined` for anything else, days that no calendar has included. */
export function momentOf(text: string): number | undefined {
  return TIME.test(text) && parseGitDate(text) ? Date.parse(text.toUpperCase()) : undefined;
}

/** The same of a date alone, too: its beginning in UTC. */
export function beginningOf(text: string): number | undefined {
  return DATE.test(text) ? momentOf(`${text}T00:00:00Z`) : momentOf(text);
}
