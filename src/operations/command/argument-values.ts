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

/** Parses the RFC 3339 time of an option, or a date as its beginning in UTC. @throws {UsageError} */
export function beginningOf(option: string, text: string): number {
  const time = momentOf(DATE.test(text) ? `${text}T00:00:00Z` : text);
  if (time !== undefined) return time;
  throw new UsageError(`--${option} ${text} is neither a time as in 2026-03-01T10:00:00Z nor a date.`);
}

/** Parses `--limit`, the maximum number of lines; 0 is for all. @throws {UsageError} */
export function limitOf(text = '100'): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--limit ${text} is not a whole number.`);
  return Number(text) || Infinity;
}
