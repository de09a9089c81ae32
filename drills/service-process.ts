import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The built service as a process of its own, to be started, hurt and started again on the same folder. */
export class ServiceProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly url: string;

  /** Resolves when it answers; rejects with what it said when it ends before. */
  static async start(
    dataDir: string,
    port: number,
    env: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const main = path.join(import.meta.dirname, '..', 'src', 'main.ts');
    const settings = {
      DEPOSIT_DATA_DIR: dataDir,
      DEPOSIT_PORT: String(port),
      DEPOSIT_LOG_LEVEL: 'warn',
      ...env,
    };
    const child = spawn(process.execPath, [main], { env: { ...process.env, ...settings } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    const service = new ServiceProcess(child, `http://127.0.0.1:${port}`);
    while (!(await service.isReady())) {
      if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return service;
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  get pid(): number {
    return this.#child.pid as number; // it was started
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** Ends it with the signal, unless it has ended; resolves to its exit code, `null` when a signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}
