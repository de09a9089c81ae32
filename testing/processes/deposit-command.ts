import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import path from 'node:path';
import { outcomeOf, type Ran } from './run-script.ts';

export type RunOptions = { readonly input?: string; readonly env?: Record<string, string> };

/**
 * A user of the command-line client: a home folder, and a login in the environment. `TESTED_CLIENT` and
 * `TESTED_CLIENT_NODE` name a packed client and the Node that runs it.
 */
export class CommandLineDepositor {
  readonly home: string;
  readonly user: string;
  /** Folder in which the command stores its files. */
  readonly configuration: string;
  readonly #env: Record<string, string>;

  constructor(
    home: string,
    login: { url?: string; user?: string; password?: string } = {},
    { XDG_CONFIG_HOME = path.join(home, '.config') }: { XDG_CONFIG_HOME?: string } = {},
  ) {
    const { url, user, password } = login;
    this.home = home;
    this.user = user ?? '';
    this.configuration = path.join(XDG_CONFIG_HOME, 'sword-deposit');
    this.#env = {
      ...(process.env as Record<string, string>), // values of the environment are text
      HOME: home,
      XDG_CONFIG_HOME,
      ...(url && { SWORD_SERVER: url }),
      ...(user && { SWORD_USER: user }),
      ...(password && { SWORD_PASSWORD: password }),
    };
  }

  /** Runs `deposit` with these arguments in the home folder. */
  async run(args: readonly string[], { input = '', env = {} }: RunOptions = {}): Promise<Ran> {
    const child = this.start(args, env);
    child.stdin?.end(input);
    return outcomeOf(child);
  }

  /** Resolves to the results of `--json`, and the exit code. */
  async json(args: readonly string[], options?: RunOptions): Promise<{ code: number; results: Facts[] }> {
    const { code, out } = await this.run([...args, '--json'], options);
    return {
      code,
      results: out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Facts),
    };
  }

  /** Resolves to the single result of `--json` of a command that has to succeed. */
  async facts(args: readonly string[], options?: RunOptions): Promise<Facts> {
    const { code, results } = await this.json(args, options);
    const [facts, ...more] = results;
    if (code !== 0 || !facts || more.length > 0)
      throw new Error(`deposit ${args.join(' ')} ended with ${code}: ${JSON.stringify(results)}`);
    return facts;
  }

  start(
    args: readonly string[],
    env: Record<string, string> = {},
    options: Pick<SpawnOptions, 'cwd' | 'stdio'> = {},
  ): ChildProcess {
    const { TESTED_CLIENT, TESTED_CLIENT_NODE } = process.env;
    const main = TESTED_CLIENT || path.join(import.meta.dirname, '../../client/main.ts');
    return spawn(TESTED_CLIENT_NODE || process.execPath, [main, ...args], {
      cwd: this.home,
      env: { ...this.#env, ...env },
      ...options,
    });
  }
}

/** A JSON result of the command. */
export type Facts = Record<string, unknown>;
