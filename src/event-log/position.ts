import { errorsOfCode } from '../tools/coded-error.ts';
import type { Position } from './event-log.ts';

/** The caller passed a position that this log cannot have. It is an error of the caller: a retry changes nothing. */
export class InvalidPosition extends errorsOfCode('INVALID_POSITION') {
  constructor(position: string) {
    super(`"${position}" is not a position of this event log.`);
  }
}

/**
 * Returns the position of a number, for logs that number their events from 1: 16 lower-case hex digits, which order as
 * strings.
 */
export function toPosition(number: number): Position {
  return number.toString(16).padStart(16, '0');
}

/** Returns the number of a position; 0, before every event, for `undefined`. @throws {InvalidPosition} */
export function positionNumber(position: Position | undefined): number {
  if (position === undefined) return 0;
  const number = /^[0-9a-f]{16}$/.test(position) ? Number.parseInt(position, 16) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new InvalidPosition(position);
  return number;
}
