import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { StoreChanges } from './store-changes.ts';

/* The thread that writes to the archive store in a folder. */
new StoreChanges(threadPort(), workerData).run();
