import { parseGitDate } from '../src/domain/deposit/metadata/git-date.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Parses an RFC 3339 time to milliseconds; `undefined` for anything else, including days that do not exist. */
export function momentOf(text: string): number | undefined {
  return TIME.test(text) && parseGitDate(text) ? Date.parse(text.toUpperCase()) : undefined;
}

/** Parses an RFC 3339 time, or a date as its beginning in UTC. */
export function beginningOf(text: string): number | undefined {
  return DATE.test(text) ? momentOf(`${text}T00:00:00Z`) : momentOf(text);
}
