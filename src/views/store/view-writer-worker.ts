import { threadPort } from '../../tools/thread-port.ts';
import { ViewJobs } from '../view-jobs.ts';

/* Entry point of the worker thread that writes view files while another thread reads them. */
new ViewJobs(threadPort()).run();
