import { parseGitDate } from '../../domain/deposit/metadata/git-date.ts';
import { UsageError } from './command.ts';

/**
 * Parses a number from 1 in decimal notation, such as that of a deposit. Returns `undefined` for anything else, such as
 * `01`, `1e0` or `0x1`.
 */
export function wholeNumber(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years, so that subtracting a duration still gives a valid date. */
const MAX_MS = 36_500 * 86_400_000;

/** Parses a duration such as 45s, 90m, 24h or 30d. Returns milliseconds. @throws {UsageError} */
export function duration(text: string): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`${text} is not a duration such as 45s, 90m, 24h or 30d.`);
  const length = Number(number) * (UNITS[unit] as number);
  if (length <= MAX_MS) return length;
  throw new UsageError(`${text} is too long: give 36500d, which is a hundred years, at most.`);
}

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
