import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { LogWriter } from './log-writer.ts';

/* The writer thread of the embedded log. */
new LogWriter(threadPort(), workerData).run();
