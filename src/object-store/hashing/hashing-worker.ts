import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { HashingSessions } from './hashing-sessions.ts';

/* Entry point of the thread that hashes the bodies of archives. */
new HashingSessions(threadPort()).run();
