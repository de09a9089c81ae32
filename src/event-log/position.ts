import type { Position } from './event-log.ts';
import { InvalidPosition } from './invalid-position.ts';

/** Positions of the logs that number their events from 1: 16 lower-case hex digits, so they order as strings. */
export function toPosition(number: number): Position {
  return number.toString(16).padStart(16, '0');
}

/** Returns the number of a position; 0, before every event, when there is none. @throws {InvalidPosition} */
export function positionNumber(position: Position | undefined): number {
  if (position === undefined) return 0;
  const number = /^[0-9a-f]{16}$/.test(position) ? Number.parseInt(position, 16) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new InvalidPosition(position);
  return number;
}
