import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { runHashingSessions } from './hashing-sessions.ts';

/* Entry point of the thread that hashes the bodies of archives. */
runHashingSessions(threadPort());
