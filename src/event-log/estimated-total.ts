import type { Position } from './event-log.ts';

/**
 * About how many there will be at `head` of what there were so many up to `position`: for progress only, and not told
 * of the first hundredth of a log. The tokens of every engine begin with a hexadecimal number that grows as the log does.
 */
export function estimatedTotal(
  done: number,
  position: Position | undefined,
  head: Position | undefined,
): number | undefined {
  const part = position === undefined || head === undefined ? 0 : numberIn(position) / numberIn(head);
  return part > 0.01 ? Math.round(done / Math.min(1, part)) : undefined;
}

function numberIn(position: Position): number {
  return Number.parseInt(position.split('-', 1)[0] ?? '', 16);
}
