import { type ParseArgsConfig, parseArgs } from 'node:util';
import { parseGitDate } from '../../domain/deposit/metadata/git-date.ts';
import { UsageError } from './command.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Parses arguments of commands with positionals, which must refuse unexpected ones themselves. */
export function readArguments<Known extends Options>(args: string[], options: Known) {
  return parseArgs({ args, options, allowPositionals: true, strict: true });
}

/** Parses arguments of commands without positionals. @throws {UsageError} */
export function readOptions<Known extends Options>(args: string[], options: Known) {
  const { values, positionals } = readArguments(args, options);
  assertNoPositionals(positionals);
  return values;
}

/** The options that each action of a command accepts. */
export type Actions = Readonly<Record<string, readonly string[]>>;

/** @throws {UsageError} the action does not exist, or does not accept all of the options. */
export function assertAction(actions: Actions, action: string, values: object): void {
  const taken = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (!taken) throw new UsageError(`Unknown action '${action}'. --help lists the actions.`);
  const foreign = Object.keys(values).find((name) => !taken.includes(name));
  if (foreign !== undefined) throw new UsageError(`${action} does not accept --${foreign}.`);
}

export function onlyPositional(positionals: readonly string[], what: string): string {
  const [value, ...more] = positionals;
  if (value === undefined) throw new UsageError(`${what} is missing.`);
  if (more.length > 0) throw new UsageError(`Only one ${what} is expected, not ${more.join(' ')} as well.`);
  return value;
}

/** Refuses positionals. @throws {UsageError} */
export function assertNoPositionals(positionals: readonly string[]): void {
  if (positionals.length > 0)
    throw new UsageError(
      `Only options are expected, not ${positionals.join(' ')}. Is -- missing after the name of the command?`,
    );
}

/** Parses a decimal number from 1; `undefined` for anything else, such as `01`, `1e0` or `0x1`. */
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

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Parses an RFC 3339 time to milliseconds, also as `history` prints it, with a space; `undefined` for anything else,
 * including days that do not exist.
 */
export function momentOf(text: string): number | undefined {
  return TIME.test(text) && parseGitDate(text) ? Date.parse(text.toUpperCase().replace(' ', 'T')) : undefined;
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
