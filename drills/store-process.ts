import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = path.join(import.meta.dirname, '..', 'test', 'support', 's3-process.ts');

/** The S3 server of the tests in a process of its own. */
export class StoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;

  static async start(): Promise<StoreProcess> {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return new StoreProcess(child, JSON.parse(line) as Served);
  }

  private constructor(child: ChildProcess, { port, accessKey, secretKey }: Served) {
    this.#child = child;
    this.port = port;
    this.accessKey = accessKey;
    this.secretKey = secretKey;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}

type Served = { readonly port: number; readonly accessKey: string; readonly secretKey: string };
