import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endProcess } from '../../testing/processes/end-process.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { ProcessFacts } from '../frame/process-facts.ts';

export type ServerOptions = {
  /** The program with its arguments, including those of Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Path that answers 200 as soon as the server is ready. */
  readonly readyPath: string;
};

/** A server as a separate process, so that its time and its memory can be measured. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  /** Resolves when it answers; rejects with its output if it ends before. */
  static async start({ args, env, port, readyPath }: ServerOptions): Promise<ServerProcess> {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    const server = new ServerProcess(child, `http://127.0.0.1:${port}`);
    const started = performance.now();
    while (!(await server.#answers(readyPath))) {
      const end = child.exitCode ?? child.signalCode;
      if (end !== null) throw new Error(`${args.join(' ')} ended with ${end}: ${said}`);
      await pause(2 + (performance.now() - started) / 100); // a long start is not slowed down by questions
    }
    return server;
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** The resources that it uses. */
  get facts(): ProcessFacts {
    return new ProcessFacts(this.#child.pid as number); // it was started
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await endProcess(this.#child, 'SIGTERM');
    clearTimeout(timer);
  }

  #answers(readyPath: string): Promise<boolean> {
    return fetch(`${this.url}${readyPath}`).then(
      (answer) => answer.ok,
      () => false,
    );
  }
}

/** Starts a server of this folder that the service is compared with. */
export async function startReference(
  program: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<ServerProcess> {
  const port = await freePort();
  const args = [path.join(import.meta.dirname, program), JSON.stringify({ ...settings, port })];
  return ServerProcess.start({ args, port, readyPath: '/' });
}
