import type { Position } from './event-log.ts';

/**
 * Estimates the count at `head` from the count `done` up to `position`, both counted after `from`. For progress messages
 * only; `undefined` within the first hundredth. The tokens of every engine begin with a hexadecimal number that grows with
 * the log.
 */
export function estimateTotal(
  done: number,
  position: Position | undefined,
  head: Position | undefined,
  from?: Position,
): number | undefined {
  const begin = from === undefined ? 0 : numberIn(from);
  const part =
    position === undefined || head === undefined
      ? 0
      : (numberIn(position) - begin) / (numberIn(head) - begin);
  return part > 0.01 ? Math.round(done / Math.min(1, part)) : undefined;
}

function numberIn(position: Position): number {
  return Number.parseInt(position.split('-', 1)[0] ?? '', 16);
}
