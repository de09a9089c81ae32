import type { Position } from './event-log.ts';

/**
 * About which part of the log lies before `position`, from 0 to 1: for progress only. The tokens of every engine
 * begin with a hexadecimal number that grows as the log does.
 */
export function howFar(position: Position | undefined, head: Position | undefined): number {
  if (head === undefined) return 1;
  if (position === undefined) return 0;
  return Math.min(1, numberIn(position) / numberIn(head));
}

function numberIn(position: Position): number {
  return Number.parseInt(position.split('-', 1)[0] ?? '', 16);
}
