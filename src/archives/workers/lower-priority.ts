import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { files } from '../../tools/files.ts';

/**
 * Niceness of a thread that no client waits for: a tenth of a core under full load, otherwise all that is
 * free.
 */
const NICENESS = 10;

/**
 * Lowers the priority of this thread below those that answer requests. Only Linux has a niceness per thread;
 * elsewhere this has no effect.
 */
export function lowerThreadPriority(): void {
  try {
    const thread = Number(basename(files.readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.max(NICENESS, getPriority(thread)));
  } catch {
    // The priority is only an optimisation.
  }
}
