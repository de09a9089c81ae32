import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

export type Engine = 'log' | 'store';

const SUPPORT = path.join(import.meta.dirname, '..', 'test', 'support');

/** The double of EventStoreDB and the S3 server of the tests, each a process, for services to share. */
export class EngineProcesses implements AsyncDisposable {
  readonly #log: ChildProcess;
  readonly #store: ChildProcess;
  /** What a service needs in its environment to use them. */
  readonly settings: Readonly<Record<string, string>>;

  static async start(): Promise<EngineProcesses> {
    const log = begin('eventstoredb-double/main.ts');
    const store = begin('s3-process.ts');
    const [port, told] = await Promise.all([firstLine(log), firstLine(store)]);
    const s3 = JSON.parse(told) as { port: number; accessKey: string; secretKey: string };
    return new EngineProcesses(log, store, {
      DEPOSIT_EVENT_LOG: `esdb://127.0.0.1:${port}?tls=false`,
      DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${s3.port}/deposits?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: s3.accessKey,
      DEPOSIT_S3_SECRET_KEY: s3.secretKey,
    });
  }

  private constructor(log: ChildProcess, store: ChildProcess, settings: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#store = store;
    this.settings = settings;
  }

  /** Cuts every connection to the log and refuses new ones; what was stored stays. */
  stopLog(): void {
    this.#log.stdin?.write('stop\n');
  }

  startLog(): void {
    this.#log.stdin?.write('listen\n');
  }

  /** Lets the process of an engine do nothing more: connections stay, nothing is answered. */
  freeze(engine: Engine): void {
    this.#of(engine).kill('SIGSTOP');
  }

  thaw(engine: Engine): void {
    this.#of(engine).kill('SIGCONT');
  }

  #of(engine: Engine): ChildProcess {
    return engine === 'log' ? this.#log : this.#store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const engine of ['log', 'store'] as const) this.thaw(engine); // else it would not end
    await Promise.all([end(this.#log), end(this.#store)]);
  }
}

function begin(file: string): ChildProcess {
  return spawn(process.execPath, [path.join(SUPPORT, file)], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface({ input: stdout as NodeJS.ReadableStream }), 'line')) as [
    string,
  ];
  return line;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
