import { channel } from 'node:diagnostics_channel';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { partOfWorld, type Workers } from './outside-world.ts';

/** Starts the workers of the calling node. */
const workers: Workers = partOfWorld('workers', {
  start: (program, options) => new Worker(program, options),
});

/**
 * A thread that has ended by itself or could not start, with the reason: the next work that needs it starts it again. Or
 * one that has begun to work, without a reason.
 */
export type ThreadState = { readonly thread: string; readonly reason?: string };

/** Publishes each {@link ThreadState} of this process. */
export const threadStates = channel('thread-states');

/** Starts a thread whose begin and end are reported. @throws the system has no thread left */
export function startThread(program: URL, options: WorkerOptions & { readonly name: string }): Worker {
  const { name: thread } = options;
  try {
    const begun: ThreadState = { thread };
    return workers.start(program, options).once('message', () => threadStates.publish(begun));
  } catch (cause) {
    reportLost(thread, cause as Error);
    throw cause;
  }
}

/** Reports the end of a thread; its user knows whether that is a fault. */
export function reportLost(thread: string, cause: Error): void {
  threadStates.publish({ thread, reason: cause.message } satisfies ThreadState);
}

/**
 * Resolves to the only message of a thread that has one task, and is stopped then. Rejects with its error, or with the
 * reason of the signal.
 */
export async function resultOfThread<Result>(
  program: URL,
  options: WorkerOptions & { readonly name: string },
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  const worker = workers.start(program, options);
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const abort = (): void => reject(signal?.reason);
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`The thread ${options.name} ended with code ${code}.`)));
  signal?.addEventListener('abort', abort);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

/** Returns the reason of a thread that ended without an error. */
export function endedWith(code: number): Error {
  return new Error(`the worker thread ended with code ${code}`);
}
