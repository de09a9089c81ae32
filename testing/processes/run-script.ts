import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';

export type RunOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder: once it has an entry, the command is signalled to end, if it still runs. */
  readonly stopIn?: string;
  /** The user and the group of the process; only root may name others than its own. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
};

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Runs a command like an operator, next to a running service on `dataDir` or alone. */
export async function runScript(
  dataDir: string,
  command: string,
  args: readonly string[],
  { input = '', env = {}, stopIn, user }: RunOptions = {},
): Promise<Ran> {
  const child = startScript(dataDir, command, args, env, user);
  child.stdin?.end(input);
  if (stopIn !== undefined) stopOnceUsed(child, stopIn);
  return outcomeOf(child);
}

/** Resolves to the output of a command that must exit with 0. @throws {Error} it did not */
export async function mustPass(dataDir: string, command: string, args: readonly string[]): Promise<string> {
  const { code, out, err } = await runScript(dataDir, command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${err}${out}`.trim());
  return out;
}

/** Starts a command whose output comes through pipes. */
export function startScript(
  dataDir: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  user?: RunOptions['user'],
): ChildProcess {
  const script = path.join(import.meta.dirname, '../../scripts', `${command}.ts`);
  return spawn(process.execPath, [script, ...args], {
    env: { ...process.env, DEPOSIT_DATA_DIR: dataDir, ...env },
    ...user,
  });
}

/** Resolves to the result of a process whose output comes through pipes. */
export async function outcomeOf(child: ChildProcess): Promise<Ran> {
  const exited = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const [out, err] = await Promise.all([buffer(child.stdout!), buffer(child.stderr!)]); // as the caller guarantees
  return { code: await exited, out: out.toString(), err: err.toString() };
}

/** Parses an output of one JSON value a line. */
export function jsonLines<Value = Readonly<Record<string, unknown>>>(out: string): Value[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Value);
}

function stopOnceUsed(child: ChildProcess, folder: string): void {
  const before = readdirSync(folder).length;
  const looking = setInterval(() => {
    if (readdirSync(folder).length === before) return;
    clearInterval(looking);
    child.kill('SIGTERM');
  }, 1);
  child.once('exit', () => clearInterval(looking));
}
