import { Worker } from 'node:worker_threads';
import { ownOr, type Workers } from './outside-world.ts';

const WORKERS_OF_NODE: Workers = {
  start: (program, options) => new Worker(program, options),
};

/** Starts the workers of the calling node. */
export const workers: Workers = {
  start: (program, options) => ownOr('workers', WORKERS_OF_NODE).start(program, options),
};
