import type { ProjectorProgress } from '../read-models/projector.ts';

const INTERVAL = 2000;

/** Tells on standard error how far a rebuild is, a line now and then; nothing when it is done at once. */
export function lineProgress(what: string): ProjectorProgress {
  let last = performance.now();
  return ({ events }) => {
    if (performance.now() - last < INTERVAL) return;
    last = performance.now();
    process.stderr.write(`${events} ${what}\n`);
  };
}
