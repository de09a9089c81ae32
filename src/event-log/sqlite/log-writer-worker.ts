import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { runLogWriter } from './log-writer.ts';

/* The writer thread of the embedded log. */
runLogWriter(threadPort(), workerData);
