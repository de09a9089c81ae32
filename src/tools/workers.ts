import { channel } from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';
import { partOfWorld, type Workers } from './outside-world.ts';

/** Starts the workers of the calling node. */
export const workers: Workers = partOfWorld('workers', {
  start: (program, options) => new Worker(program, options),
});

/** A thread that ended by itself; the next work that needs it starts it again. */
export type LostThread = { readonly thread: string; readonly reason: string };

/** Publishes each {@link LostThread} of this process. */
export const lostThreads = channel('lost-threads');

export function reportLost(thread: string, cause: Error): void {
  lostThreads.publish({ thread, reason: cause.message } satisfies LostThread);
}
