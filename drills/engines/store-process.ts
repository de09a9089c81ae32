import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { endProcess } from '../../testing/processes/end-process.ts';

const PROGRAM = path.join(import.meta.dirname, '../../testing/s3/s3-process.ts');

/** The S3 server of the tests in a separate process, with commands for faults. */
export class StoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;

  static async start(): Promise<StoreProcess> {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    return new StoreProcess(child, lines, JSON.parse(line) as Served);
  }

  private constructor(child: ChildProcess, lines: Interface, { port, accessKey, secretKey }: Served) {
    this.#child = child;
    this.#lines = lines;
    this.port = port;
    this.accessKey = accessKey;
    this.secretKey = secretKey;
  }

  /** Flips a bit of the object, or flips it back. */
  async flip(bucket: string, key: string): Promise<void> {
    await this.#command('flip', bucket, key);
  }

  /** Loses one object, by default the one that was stored last, and breaks every connection. */
  async cutPower(bucket: string, key = ''): Promise<void> {
    await this.#command('cut-power', bucket, key);
  }

  /** Resolves to the keys of the objects that power cuts have lost, including those that exist again. */
  async lost(bucket: string): Promise<readonly string[]> {
    return (await this.#command('lost', bucket)) as readonly string[];
  }

  /** Restores an object that a power cut has lost, unless it exists again. */
  async bringBack(bucket: string, key: string): Promise<void> {
    await this.#command('bring-back', bucket, key);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Commands are answered in their order, one at a time. */
  async #command(...words: readonly string[]): Promise<unknown> {
    const answered = once(this.#lines, 'line');
    this.#child.stdin?.write(`${words.join(' ')}\n`);
    const [line] = (await answered) as [string];
    return JSON.parse(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcess(this.#child, 'SIGTERM');
  }
}

type Served = { readonly port: number; readonly accessKey: string; readonly secretKey: string };
