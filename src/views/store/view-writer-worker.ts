import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { runViewJobs } from './view-jobs.ts';

/* Entry point of the worker thread that writes a view file. */
runViewJobs(threadPort(), workerData);
