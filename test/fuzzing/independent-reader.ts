import { WorkerPool } from '../../src/archives/workers/worker-pool.ts';

type Job = { readonly kind: 'zip' | 'tar'; readonly bytes: Uint8Array };

/** A directory id, or the reason of a refusal; neither if the reader cannot read the archive. */
export type IndependentAnswer = { readonly directory?: string; readonly refusal?: string };

const READ_TIMEOUT_MS = 5000;

/**
 * Errors of the readers that do not make an archive suspect: tar-stream does not know signed checksums and regards
 * some ends as truncated, node-stream-zip reads a backslash as a slash, and each of them may crash or hang.
 */
const SHORTCOMINGS =
  /^(Invalid tar header|Invalid header|Unexpected end of data|Entry is not file|The worker|It took)/;

/** Other readers of archives, in a thread that may crash or hang. */
export class IndependentReader implements AsyncDisposable {
  readonly #pool = new WorkerPool<Job, IndependentAnswer>(
    new URL('./independent-worker.ts', import.meta.url),
    { size: 1, queueLength: 10, worker: { name: 'independent-reader', stderr: true } },
  );

  async read(kind: Job['kind'], bytes: Buffer): Promise<IndependentAnswer> {
    const job = { kind, bytes: new Uint8Array(bytes) };
    const answer = await this.#pool
      .run(job, READ_TIMEOUT_MS)
      .catch((error: Error): IndependentAnswer => ({ refusal: error.message }));
    return SHORTCOMINGS.test(answer.refusal ?? '') ? {} : answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}
