import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endProcess, hasEnded } from '../processes/end-process.ts';
import { freePort } from '../processes/free-port.ts';
import { installed } from '../processes/installed.ts';
import { flipOnDrive } from './flip-on-drive.ts';

/** Returns the program `MINIO_BIN`, else `minio` on the path. @throws if `MINIO_BIN` cannot be run. */
export function minioProgram(): string | undefined {
  const { MINIO_BIN } = process.env;
  if (!MINIO_BIN) return installed('minio');
  accessSync(MINIO_BIN, constants.X_OK);
  return path.resolve(MINIO_BIN);
}

/** A real MinIO on one drive: a process of its own on loopback, in a temporary folder that disposal removes. */
export class MinioProcess implements AsyncDisposable {
  readonly accessKey = 'minio-of-the-tests';
  readonly secretKey = randomUUID();
  readonly #program: string;
  readonly #folder: string;
  #port = 0;
  #child: ChildProcess | undefined;

  /** Resolves when it serves requests. */
  static async start(program: string): Promise<MinioProcess> {
    await using starting = new AsyncDisposableStack();
    const minio = starting.use(new MinioProcess(program, await mkdtemp(path.join(tmpdir(), 'minio-'))));
    do minio.#port = await freePort();
    while (!(await minio.#begin())); // another process may have got the port since
    starting.move();
    return minio;
  }

  private constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** The folder in which it stores everything. */
  get drive(): string {
    return path.join(this.#folder, 'drive');
  }

  get port(): number {
    return this.#port;
  }

  /** The value of `S3_URL` for a bucket, which need not be there. */
  bucketUrl(bucket: string): string {
    return `http://${this.accessKey}:${this.secretKey}@127.0.0.1:${this.#port}/${bucket}`;
  }

  /** Ends it by SIGKILL. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Starts it after {@link kill}, on the same port and folder. Resolves when it serves requests. */
  async restart(): Promise<void> {
    if (!(await this.#begin())) throw new Error(`MinIO was not started again: port ${this.#port} is in use.`);
  }

  /** Flips a bit of the object, or flips it back. */
  flip(bucket: string, key: string): Promise<void> {
    return flipOnDrive(path.join(this.drive, bucket, key));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGKILL'); // its folder is removed, too
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Resolves to `true` when it serves requests, to `false` when another process has its port. */
  async #begin(): Promise<boolean> {
    const child = spawn(this.#program, ['server', '--address', `127.0.0.1:${this.#port}`, this.drive], {
      env: this.#settings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (/^API: /m.test(said)) resolve(true);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => {
      if (said.includes('port is already in use')) resolve(false);
      else reject(new Error(`MinIO ended with ${code} at its start: ${said}`));
    });
    const isListening = await promise;
    if (isListening) await this.#healthy();
    return isListening;
  }

  get #settings(): Readonly<Record<string, string>> {
    return {
      HOME: this.#folder, // where it looks for certificates
      MINIO_ROOT_USER: this.accessKey,
      MINIO_ROOT_PASSWORD: this.secretKey,
      MINIO_BROWSER: 'off',
      MINIO_CI_CD: '1', // folders of the root disk are sufficient
      MINIO_FS_OSYNC: 'on',
    };
  }

  async #healthy(): Promise<void> {
    const isHealthy = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${this.#port}/minio/health/cluster`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isHealthy())) {
      if (!this.#child || hasEnded(this.#child)) throw new Error('MinIO ended before it was healthy.');
      await pause(20);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child) await endProcess(this.#child, signal);
  }
}
