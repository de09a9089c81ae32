import { WorkerPool } from '../../src/archives/threads/worker-pool.ts';

type Job = { readonly kind: 'zip' | 'tar'; readonly bytes: Uint8Array };

/** A directory id, or why there is none; neither where the reader is not able to tell. */
export type IndependentAnswer = { readonly directory?: string; readonly refusal?: string };

const PATIENCE = 5000;

/**
 * What is no reason to doubt an archive: tar-stream does not know signed checksums and takes some ends for cuts,
 * node-stream-zip takes a backslash for a slash, and each of them may die or hang.
 */
const SHORTCOMINGS =
  /^(Invalid tar header|Invalid header|Unexpected end of data|Entry is not file|The worker|It took)/;

/** Other readers of archives, in a thread that may die or hang. */
export class IndependentReader implements AsyncDisposable {
  readonly #pool = new WorkerPool<Job, IndependentAnswer>(
    new URL('./independent-worker.ts', import.meta.url),
    { size: 1, queueLength: 10, worker: { stderr: true } },
  );

  async read(kind: Job['kind'], bytes: Buffer): Promise<IndependentAnswer> {
    const job = { kind, bytes: new Uint8Array(bytes) };
    const answer = await this.#pool
      .run(job, PATIENCE)
      .catch((error: Error): IndependentAnswer => ({ refusal: error.message }));
    return SHORTCOMINGS.test(answer.refusal ?? '') ? {} : answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}
