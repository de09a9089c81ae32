import { Worker } from 'node:worker_threads';
import { partOfWorld, type Workers } from './outside-world.ts';

/** Starts the workers of the calling node. */
export const workers: Workers = partOfWorld('workers', {
  start: (program, options) => new Worker(program, options),
});
