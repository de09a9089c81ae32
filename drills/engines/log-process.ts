import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { endProcess } from '../../testing/processes/end-process.ts';

const MAIN = path.join(import.meta.dirname, '../../testing/eventstoredb-double/main.ts');

/** The double of EventStoreDB, one server or a cluster of them, in a process with commands for faults. */
export class LogProcess implements AsyncDisposable {
  readonly #args: readonly string[];
  #ports: readonly number[] = [];
  #child: ChildProcess;
  #lines: Interface;

  /** `args` are those of the program. Only with `--file` does its log survive a kill. */
  static async start(args: readonly string[] = []): Promise<LogProcess> {
    const log = new LogProcess(args);
    const [line] = (await once(log.#lines, 'line')) as [string];
    log.#ports = line.split(' ').map(Number);
    return log;
  }

  private constructor(args: readonly string[]) {
    this.#args = args;
    this.#child = this.#begin();
    this.#lines = linesOf(this.#child);
  }

  /** Connection string with every server. */
  get connectionString(): string {
    return `esdb://${this.#ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`;
  }

  /** Sends one line of input. Resolves when the fault that it asks for is over. @throws if it failed */
  async command(line: string): Promise<void> {
    const lines = this.#lines;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const read = (answer: string): void => {
      if (answer === `done ${line}`) resolve();
      if (answer.startsWith(`failed ${line}:`)) reject(new Error(answer));
    };
    lines.on('line', read);
    this.#child.stdin?.write(`${line}\n`);
    await promise.finally(() => lines.off('line', read));
  }

  /** Ends its process by SIGKILL. */
  async kill(): Promise<void> {
    await endProcess(this.#child, 'SIGKILL');
  }

  /** Starts a process again after a kill, on the same ports. */
  async restart(): Promise<void> {
    this.#child = this.#begin();
    this.#lines = linesOf(this.#child);
    await once(this.#lines, 'line');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcess(this.#child, 'SIGTERM');
  }

  #begin(): ChildProcess {
    const ports = this.#ports.flatMap((port) => ['--port', String(port)]);
    return spawn(process.execPath, [MAIN, ...this.#args, ...ports], { stdio: ['pipe', 'pipe', 'inherit'] });
  }
}

function linesOf({ stdout }: ChildProcess): Interface {
  return createInterface({ input: stdout as NodeJS.ReadableStream }); // it is a pipe
}
