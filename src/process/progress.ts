import type { ProjectorProgress } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';

const INTERVAL = 2000;

/** Tells on standard error how far a rebuild is, a line now and then; nothing when it is done at once. */
export function lineProgress(what: string): ProjectorProgress {
  let last = clock.monotonic();
  return ({ events }) => {
    if (clock.monotonic() - last < INTERVAL) return;
    last = clock.monotonic();
    process.stderr.write(`${events} ${what}\n`);
  };
}
