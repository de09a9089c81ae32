import { printable } from '../src/tools/terminal/printable.ts';
import { EXIT, Fault, reasonOf, UsageFault } from './faults.ts';
import { VERSION } from './version.ts';

/** Resolves to the exit code. */
type Run = (args: string[]) => Promise<number>;
type Command = { readonly HELP: string; readonly run: Run };

// Modules are loaded on demand, so that help is printed at once.
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  upload: () => import('./commands/upload.ts'),
  status: () => import('./commands/status.ts'),
  list: () => import('./commands/list.ts'),
  history: () => import('./commands/history.ts'),
  fetch: () => import('./commands/fetch.ts'),
  complete: () => import('./commands/complete.ts'),
  delete: () => import('./commands/delete.ts'),
  login: () => import('./commands/login.ts'),
};

/** Commands that only print, so that they end once their reader has closed the pipe. The others finish their work. */
const ONLY_PRINT: ReadonlySet<string> = new Set(['list', 'history']);

const HELP = `Deposits software source code on a SWORD 2.0 server.

  deposit upload ARCHIVE|FOLDER… [metadata] [options]   make a deposit, or continue a partial one
  deposit status N [--wait]                             show the status of a deposit
  deposit list [--status S]                             list your deposits
  deposit history N                                     show what happened to a deposit
  deposit fetch N [--output FILE]                       download the archives of a deposit
  deposit complete N                                    complete a partial deposit
  deposit delete N                                      delete a partial deposit
  deposit login --server URL --user NAME                save server and password for the other commands

deposit COMMAND --help explains each, deposit --version prints the version.

Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 deposit rejected, or loading failed,
4 the identifier differs from the one computed here, 5 server unreachable or not ready, or connection lost.
`;

/** Runs the command that the arguments name. Resolves to the exit code and never rejects for a known fault. */
export async function main([name = '', ...args]: string[]): Promise<number> {
  process.stdout.on('error', (error) => onOutputFault(error, { endsProcess: ONLY_PRINT.has(name) }));
  process.stderr.on('error', () => undefined); // messages alone are no reason to end, as when the terminal was closed
  if (['', 'help', '--help', '-h'].includes(name)) {
    process.stdout.write(HELP);
    return name === '' ? EXIT.usage : EXIT.done;
  }
  if (['--version', '-v'].includes(name)) {
    process.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  try {
    const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!load) throw new UsageFault(`Unknown command '${name}'. deposit --help lists the commands.`);
    const { HELP: help, run } = await load();
    if (!args.includes('--help') && !args.includes('-h')) return await run(args);
    process.stdout.write(help);
    return EXIT.done;
  } catch (error) {
    return printError(error, args.includes('--json'));
  }
}

/**
 * Exits when results cannot be written. That is no failure if their reader has closed the pipe, as `head` does: without
 * `endsProcess` the command then continues, and its exit code says what became of the deposit.
 */
function onOutputFault(
  error: NodeJS.ErrnoException,
  { endsProcess }: { readonly endsProcess: boolean },
): void {
  if (error.code === 'EPIPE' && endsProcess) process.exit(EXIT.done);
  if (['EPIPE', 'ERR_STREAM_DESTROYED'].includes(error.code ?? '')) return;
  process.stderr.write(`Standard output cannot be written: ${reasonOf(error)}.\n`);
  process.exit(EXIT.failed);
}

/**
 * Prints an error and returns the exit code. A known fault is printed as sentences, an unexpected error with its stack.
 */
function printError(error: unknown, json: boolean): number {
  const { message, stack } = error as Error;
  const exitCode = error instanceof Fault ? error.exitCode : EXIT.failed;
  const facts = error instanceof Fault ? error.facts() : { deposit: null };
  if (json)
    process.stdout.write(`${printable(JSON.stringify({ error: { exitCode, message, ...facts } }))}\n`);
  else process.stderr.write(`${printable(error instanceof Fault ? message : (stack ?? message))}\n`);
  return exitCode;
}
