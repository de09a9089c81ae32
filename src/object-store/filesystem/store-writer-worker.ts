import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { runStoreChanges } from './store-changes.ts';

/* The thread that writes to the archive store in a folder. */
runStoreChanges(threadPort(), workerData);
