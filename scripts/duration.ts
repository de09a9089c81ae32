import { UsageError } from './command.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years, so that subtracting a duration still gives a valid date. */
const MAX_MS = 36_500 * 86_400_000;

/** Parses a duration such as 45s, 90m, 24h or 30d. Returns milliseconds. @throws {UsageError} */
export function duration(text: string): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`${text} is no duration as in 45s, 90m, 24h or 30d.`);
  const length = Number(number) * (UNITS[unit] as number);
  if (length <= MAX_MS) return length;
  throw new UsageError(`${text} is too long: give 36500d, which is a hundred years, at most.`);
}
