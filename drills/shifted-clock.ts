import { readFileSync } from 'node:fs';

/**
 * To be loaded before a program (`node --import`): its clock goes as many milliseconds ahead or behind as the file says
 * that `DRILL_CLOCK_FILE` names, in all its threads and from the moment on when the file is written.
 */
const file = process.env['DRILL_CLOCK_FILE'] ?? '';
const RealDate = Date;
/** The file is looked at so often, in milliseconds. */
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
    else super(...(given as [number])); // whatever it was given, it is the same as without us
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
