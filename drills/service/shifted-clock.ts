import { readFileSync } from 'node:fs';

/**
 * Preloaded with `node --import`, it shifts the clock of all threads by the milliseconds in the file that
 * `DRILL_CLOCK_FILE` names, from the moment when the file is written.
 */
const file = process.env['DRILL_CLOCK_FILE'] ?? '';
const RealDate = Date;
/** Interval in which the file is read, in milliseconds. */
const LOOK_EVERY = 10;
let [shift, lookedAt] = [0, -Infinity];

function now(): number {
  if (performance.now() - lookedAt > LOOK_EVERY) {
    shift = Number(readFileSync(file, 'utf8'));
    lookedAt = performance.now();
  }
  return RealDate.now() + shift;
}

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now());
    else super(...(given as [number])); // the arguments pass unchanged
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
