import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endProcess, hasEnded } from '../../testing/processes/end-process.ts';
import { isKept, keep, keepLog } from '../frame/kept-output.ts';

/** The service could not be started; `code` is its exit code, the message its output. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly code: number | null;

  constructor(code: number | null, said: string) {
    super(`The service ended with ${code}: ${said}`);
    this.code = code;
  }
}

/** The program of the service in this tree. */
export const SERVICE_MAIN = path.join(import.meta.dirname, '../../src/main.ts');

/** A program of the service whose long times are seconds. */
export const HASTY_SERVICE_MAIN = path.join(import.meta.dirname, 'hasty-service.ts');

/** The service as a process that can be killed and restarted on the same folder. */
export class ServiceProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly url: string;
  #said = '';

  /**
   * Resolves when it answers, and no other process on its port; `main` is its program.
   * @throws {NotStarted} with its output if it ends before
   */
  static async start(
    dataDir: string,
    port: number,
    env: Record<string, string> = {},
    main = SERVICE_MAIN,
  ): Promise<ServiceProcess> {
    const settings = {
      DEPOSIT_DATA_DIR: dataDir,
      DEPOSIT_PORT: String(port),
      DEPOSIT_LOG_LEVEL: isKept ? 'info' : 'warn',
      ...env,
    };
    const child = spawn(process.execPath, [main], { env: { ...process.env, ...settings } });
    const service = new ServiceProcess(child, dataDir, `http://127.0.0.1:${port}`);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        service.#said += chunk;
        keep('services', chunk);
      });
    }
    while (!(await service.isReady()) || operatorPidOf(dataDir) !== child.pid) {
      if (service.hasEnded) throw new NotStarted(child.exitCode, service.#said);
      await pause(20);
    }
    keepLog(dataDir);
    return service;
  }

  private constructor(child: ChildProcess, dataDir: string, url: string) {
    this.#child = child;
    this.#dataDir = dataDir;
    this.url = url;
  }

  get pid(): number {
    return this.#child.pid as number; // it was started
  }

  /** The output so far. */
  get said(): string {
    return this.#said;
  }

  get hasEnded(): boolean {
    return hasEnded(this.#child);
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** Resolves to its exit code when it has ended; `null` if a signal ended it. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  /** Ends it with the signal, unless it has ended; resolves to its exit code, `null` if a signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const code = await endProcess(this.#child, signal);
    keepLog(this.#dataDir);
    return code;
  }

  /** Sends the signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    if (!this.hasEnded) this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}

/** Returns the process that the service of a data folder has named there at the end of its start. */
function operatorPidOf(dataDir: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(path.join(dataDir, 'operator.json'), 'utf8')) as { pid: number }).pid;
  } catch {
    return undefined; // it is just being written
  }
}
