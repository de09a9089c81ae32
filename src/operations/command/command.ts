import type { Config } from '../../config/config.ts';
import { packageInfo } from '../../config/package-info.ts';
import type { Actor } from '../../deposits/command-handler.ts';
import { clock } from '../../tools/clock.ts';
import { describeFsError } from '../../tools/files/describe-fs-error.ts';
import { createPrivately } from '../../tools/files/private-files.ts';
import { exitSoon } from '../../tools/terminal/exit-soon.ts';
import { warn } from './output.ts';

/** Creates an error whose message is printed as one sentence; the exit code is 1. */
export { codedError as refused } from '../../tools/coded-error.ts';

/** Wrong usage of a command: its message is printed, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type CommandOptions = {
  /** Whether to run without arguments, instead of printing the help. */
  readonly mayBeBare?: boolean;
  /**
   * Whether the command only prints, so that it ends with 0 once its output is closed. Other commands finish their work,
   * also those whose exit code is a verdict on all of it.
   */
  readonly onlyPrints?: boolean;
};

/** The end of each help that names no others. */
const EXIT_CODES = '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.\n';

/**
 * Runs a command. `--help` prints its help, `--version` the version of the project. A usage error ends with 2, any other
 * refusal or fault with 1. Known refusals are printed as one sentence, unexpected errors with their stack. The process ends
 * soon after the command.
 */
export async function runCommand(
  help: string,
  command: (args: string[]) => Promise<number | void>,
  { mayBeBare = false, onlyPrints = false }: CommandOptions = {},
): Promise<void> {
  createPrivately();
  handleClosedOutput({ endsProcess: onlyPrints });
  const args = process.argv.slice(2);
  if (args.includes('--version')) {
    process.stdout.write(`${packageInfo().version}\n`);
    return;
  }
  const isBare = args.length === 0 && !mayBeBare;
  if (isBare || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help.includes('Exit codes:') ? help : `${help}${EXIT_CODES}`);
    process.exitCode = isBare ? 2 : 0;
    return;
  }
  try {
    process.exitCode = (await command(args)) ?? 0;
  } catch (error) {
    const { message, stack } = error as Error;
    const code = codeOf(error);
    const usage = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
    const text = describeFsError(error) ?? (usage || code !== '' ? refusalOf(code, message) : stack);
    warn(String(text));
    process.exitCode = usage ? 2 : 1;
  }
  exitSoon();
}

/** Returns the code of an error of Node; that of a program that failed is its number, which says nothing. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/**
 * Returns the message of a refusal. Node adds advice about positional arguments to that of an unknown option, and three
 * lines of it to that of a value with a dash.
 */
function refusalOf(code: string, message: string): string {
  const [, dashed] = /^Option '(\S+)' argument is ambiguous/.exec(message) ?? [];
  if (dashed !== undefined)
    return `${dashed} needs a value. One that begins with a dash is given as ${dashed}=-VALUE.`;
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return message;
  return `${message.split('. To specify')[0]}. --help lists the options.`;
}

/** Returns the actor for events: the user who runs the command. */
export function operator({ operator: name }: Pick<Config, 'operator'>): Actor {
  return { kind: 'operator', name };
}

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A signal within this time after the first one counts as the same: npm and the executable forward those of a terminal. */
const SIGNAL_DEBOUNCE_MS = 1000;

/**
 * Returns a signal that aborts with the text as its reason when the process gets SIGINT or SIGTERM, or SIGHUP as its
 * terminal closes. A signal that arrives a second or more later ends the process at once.
 */
export function stopSignal(text: string): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) return;
    stop.abort(Object.assign(new Error(text), { code: 'STOPPED' }));
    const release = (): void => STOPPING.forEach((name) => process.off(name, onSignal));
    clock.setTimeout(release, SIGNAL_DEBOUNCE_MS).unref();
  };
  for (const name of STOPPING) process.on(name, onSignal);
  return stop.signal;
}

/**
 * Handles a closed standard output, as in `deposit-service client list | head -1`, which would otherwise end the command in
 * the middle of its work.
 * With `endsProcess`, the process exits quietly, since the reader has read enough. Otherwise it finishes its work
 * without output. Any other failed write makes the command fail.
 */
function handleClosedOutput({ endsProcess }: { readonly endsProcess: boolean }): void {
  let failed = false;
  process.stdout.on('error', ({ code, message, syscall }: NodeJS.ErrnoException) => {
    if (syscall === undefined) return; // an error of what was to be written, which its source reports
    if (code === 'EPIPE' && endsProcess) process.exit();
    if (code === 'EPIPE' || failed) return;
    failed = true;
    process.stderr.write(`Not all of the output could be written: ${message}.\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  process.stderr.on('error', () => undefined); // cannot be reported anywhere
}
