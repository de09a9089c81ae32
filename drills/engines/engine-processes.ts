import { MinioProcess } from '../../testing/s3/minio-process.ts';
import { LogProcess } from './log-process.ts';
import { StoreProcess } from './store-process.ts';

export type Engine = 'log' | 'store';

export type EngineOptions = {
  /** Arguments of the double, such as `--nodes 3`. */
  readonly logArgs?: readonly string[];
  /** The program of a real MinIO that is used as the store instead of the S3 server of the tests. */
  readonly minio?: string | undefined;
};

/** The double of EventStoreDB and an S3 server, each in a process, shared by services. */
export class EngineProcesses implements AsyncDisposable {
  readonly log: LogProcess;
  readonly store: StoreProcess | MinioProcess;
  /** Settings with which a service uses them. */
  readonly settings: Readonly<Record<string, string>>;

  static async start({ logArgs = [], minio }: EngineOptions = {}): Promise<EngineProcesses> {
    await using starting = new AsyncDisposableStack();
    const store = starting.use(
      await (minio === undefined ? StoreProcess.start() : MinioProcess.start(minio)),
    );
    const log = starting.use(await LogProcess.start(logArgs));
    starting.move();
    return new EngineProcesses(log, store);
  }

  private constructor(log: LogProcess, store: StoreProcess | MinioProcess) {
    this.log = log;
    this.store = store;
    this.settings = {
      DEPOSIT_EVENT_LOG: log.connectionString,
      DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${store.port}/deposits?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: store.accessKey,
      DEPOSIT_S3_SECRET_KEY: store.secretKey,
    };
  }

  /** Closes every connection to the log and refuses new ones; stored events stay. */
  stopLog(): void {
    void this.log.command('stop');
  }

  startLog(): void {
    void this.log.command('listen');
  }

  /** Stops the process of an engine: connections stay open, nothing is answered. */
  freeze(engine: Engine): void {
    this.#signal(engine, 'SIGSTOP');
  }

  thaw(engine: Engine): void {
    this.#signal(engine, 'SIGCONT');
  }

  #signal(engine: Engine, signal: NodeJS.Signals): void {
    (engine === 'log' ? this.log : this.store).signal(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const engine of ['log', 'store'] as const) this.thaw(engine); // else it would not end
    await Promise.all([this.log[Symbol.asyncDispose](), this.store[Symbol.asyncDispose]()]);
  }
}
