import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { LogProcess } from './log-process.ts';

export type Engine = 'log' | 'store';

const STORE = path.join(import.meta.dirname, '..', 'test', 'support', 's3-process.ts');

/** The double of EventStoreDB and the S3 server of the tests, each a process, for services to share. */
export class EngineProcesses implements AsyncDisposable {
  readonly log: LogProcess;
  readonly #store: ChildProcess;
  /** What a service needs in its environment to use them. */
  readonly settings: Readonly<Record<string, string>>;

  /** `logArgs` are arguments of the double, such as `--nodes 3`. */
  static async start(logArgs: readonly string[] = []): Promise<EngineProcesses> {
    const store = spawn(process.execPath, [STORE], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [log, line] = await Promise.all([LogProcess.start(logArgs), firstLine(store)]);
    const s3 = JSON.parse(line) as { port: number; accessKey: string; secretKey: string };
    return new EngineProcesses(log, store, {
      DEPOSIT_EVENT_LOG: log.connectionString,
      DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${s3.port}/deposits?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: s3.accessKey,
      DEPOSIT_S3_SECRET_KEY: s3.secretKey,
    });
  }

  private constructor(log: LogProcess, store: ChildProcess, settings: Readonly<Record<string, string>>) {
    this.log = log;
    this.#store = store;
    this.settings = settings;
  }

  /** Cuts every connection to the log and refuses new ones; what was stored stays. */
  stopLog(): void {
    void this.log.command('stop');
  }

  startLog(): void {
    void this.log.command('listen');
  }

  /** Lets the process of an engine do nothing more: connections stay, nothing is answered. */
  freeze(engine: Engine): void {
    this.#signal(engine, 'SIGSTOP');
  }

  thaw(engine: Engine): void {
    this.#signal(engine, 'SIGCONT');
  }

  #signal(engine: Engine, signal: NodeJS.Signals): void {
    if (engine === 'log') this.log.signal(signal);
    else this.#store.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const engine of ['log', 'store'] as const) this.thaw(engine); // else it would not end
    await Promise.all([this.log[Symbol.asyncDispose](), end(this.#store)]);
  }
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
