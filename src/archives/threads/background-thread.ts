import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { files } from '../../tools/files.ts';

/** Of a thread that nobody waits for at a connection: a tenth of a core where all cores are wanted, else what there is. */
const NICENESS = 10;

/** Lets the threads that answer requests go before this one. Only Linux knows the niceness of a single thread; elsewhere nothing happens. */
export function letRequestsGoFirst(): void {
  try {
    const thread = Number(basename(files.readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.max(NICENESS, getPriority(thread)));
  } catch {
    // Work gets done all the same.
  }
}
