import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Actor } from '../src/command-handler.ts';
import type { Config } from '../src/config.ts';
import { systemErrorText } from '../src/system-error.ts';
import { bearUnread } from './unread.ts';

/** A mistake in how a command was called; its message goes to the person, with the exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type CommandOptions = {
  /** Without arguments it is carried out, instead of printing its help. */
  readonly mayBeBare?: boolean;
  /** It is for its output alone, so it ends once nobody reads that; any other finishes its work unheard. */
  readonly onlyTells?: boolean;
};

/**
 * Runs a command: `--help` prints its help; a usage error ends with 2, any other refusal or fault with 1.
 * Known refusals are one sentence; what is unexpected shows its stack.
 */
export async function runCommand(
  help: string,
  command: (args: string[]) => Promise<number | void>,
  { mayBeBare = false, onlyTells = false }: CommandOptions = {},
): Promise<void> {
  bearUnread({ endsProcess: onlyTells });
  const args = process.argv.slice(2);
  const isBare = args.length === 0 && !mayBeBare;
  if (isBare || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    process.exitCode = isBare ? 2 : 0;
    return;
  }
  try {
    process.exitCode = (await command(args)) ?? 0;
  } catch (error) {
    const { code = '', message, stack } = error as NodeJS.ErrnoException;
    const usage = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
    const text = systemErrorText(error) ?? (usage || code !== '' ? message : stack);
    process.stderr.write(`${text}\n`);
    process.exitCode = usage ? 2 : 1;
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** For commands that take more than options; what of that they do not take is theirs to refuse. */
export function readArguments<Known extends Options>(args: string[], options: Known) {
  return parseArgs({ args, options, allowPositionals: true, strict: true });
}

/** For commands that take options alone. @throws {UsageError} */
export function readOptions<Known extends Options>(args: string[], options: Known) {
  const { values, positionals } = readArguments(args, options);
  none(positionals);
  return values;
}

/** Which options each action of a command takes. */
export type Actions = Readonly<Record<string, readonly string[]>>;

/** @throws {UsageError} there is no such action, or it takes not all of the options. */
export function assertAction(actions: Actions, action: string, values: object): void {
  const taken = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (!taken) throw new UsageError(`There is no action ${action}; --help lists them.`);
  const foreign = Object.keys(values).find((name) => !taken.includes(name));
  if (foreign !== undefined) throw new UsageError(`${action} takes no --${foreign}.`);
}

/** Whoever runs the command, as events name them. */
export function operator({ operator: name }: Pick<Config, 'operator'>): Actor {
  return { kind: 'operator', name };
}

/** The one positional that is needed. */
export function only(positionals: readonly string[], what: string): string {
  const [value, ...more] = positionals;
  if (value === undefined) throw new UsageError(`${what} is missing.`);
  if (more.length > 0) throw new UsageError(`Only one ${what} is expected, not ${more.join(' ')} as well.`);
  return value;
}

/** Where only options make sense. @throws {UsageError} */
export function none(positionals: readonly string[]): void {
  if (positionals.length > 0)
    throw new UsageError(`Only options are expected, not ${positionals.join(' ')}.`);
}

/** What is told to the person as one sentence, with the exit code 1. */
export function refused(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What is beside the outcome, so not for who reads that on. */
export function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}
