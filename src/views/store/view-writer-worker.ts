import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { ViewJobs } from './view-jobs.ts';

/* Entry point of the worker thread that writes a view file. */
new ViewJobs(threadPort(), workerData).run();
