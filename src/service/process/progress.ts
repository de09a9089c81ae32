import { clock } from '../../tools/clock.ts';
import type { ProjectorProgress } from '../../views/projector.ts';

const INTERVAL = 2000;

/**
 * Reports the progress of a rebuild on standard error, at most one line every two seconds; no line for a
 * short rebuild.
 */
export function lineProgress(what: string): ProjectorProgress {
  let last = clock.monotonic();
  return ({ events }) => {
    if (clock.monotonic() - last < INTERVAL) return;
    last = clock.monotonic();
    process.stderr.write(`${events} ${what}\n`);
  };
}
