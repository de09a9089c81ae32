import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endProcess } from '../../testing/processes/end-process.ts';

/** Returns why strace cannot be used here; `undefined` if it can. */
export function whyNoStrace(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-f', '-e', 'trace=none', 'true'], {
    encoding: 'utf8',
  });
  if (error) return 'strace is not installed';
  return status === 0 ? undefined : `strace may not trace here: ${stderr.trim()}`;
}

/** strace attached to running processes or threads; what it does to them ends with it. */
export class Strace {
  readonly #child: ChildProcess;
  readonly #output: string;

  /** Resolves when it has attached. @throws it ended before. */
  static async attach(pids: readonly number[], options: readonly string[]): Promise<Strace> {
    const output = path.join(tmpdir(), `drill-strace-${process.pid}-${performance.now()}.txt`);
    const targets = pids.flatMap((pid) => ['-p', String(pid)]);
    const child = spawn('strace', [...options, '-o', output, ...targets], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk));
    while (said.split(/ attached/).length <= pids.length) {
      if (child.exitCode !== null) throw new Error(`strace ended with ${child.exitCode}: ${said}`);
      await pause(5);
    }
    return new Strace(child, output);
  }

  private constructor(child: ChildProcess, output: string) {
    this.#child = child;
    this.#output = output;
  }

  /** Detaches; resolves to its output. */
  async detach(): Promise<string> {
    await endProcess(this.#child, 'SIGINT');
    const seen = await readFile(this.#output, 'latin1');
    await rm(this.#output, { force: true });
    return seen;
  }
}
