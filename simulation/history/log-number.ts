import type { Position } from '../../src/event-log/event-log.ts';

/** Returns the number of the event at a position of the adapter: two hex numbers with a dash between them. */
export function numberOf(position: Position | undefined): number {
  return position === undefined ? 0 : Number.parseInt(position, 16);
}

/** Returns the position of the adapter for an event. */
export function positionAt(number: number): Position {
  const hex = number.toString(16).padStart(16, '0');
  return `${hex}-${hex}`;
}
