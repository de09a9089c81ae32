import type { Position } from '../event-log.ts';
import { InvalidPosition } from '../position.ts';

/** Position of an event in the transaction log of the server: unsigned 64-bit numbers. */
export type LogPosition = { readonly commit: bigint; readonly prepare: bigint };

const UNKNOWN = 2n ** 64n - 1n;
const TOKEN = /^([0-9a-f]{16})-([0-9a-f]{16})$/;

/** Returns both numbers as 16 lower-case hex digits, so that positions order as strings. */
export function toPosition({ commit, prepare }: LogPosition): Position {
  const first = hex(commit);
  return `${first}-${prepare === commit ? first : hex(prepare)}`;
}

/** @throws {InvalidPosition} it is a position of another kind of log. */
export function toLogPosition(position: Position): LogPosition {
  const [, commit, prepare] = TOKEN.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new InvalidPosition(position);
  }
  return { commit: BigInt(`0x${commit}`), prepare: BigInt(`0x${prepare}`) };
}

/**
 * Whether the server sent the position: before 22.6 it sends none, or the highest number, with the events of one
 * stream.
 */
export function isKnown(position: LogPosition | undefined): position is LogPosition {
  return position !== undefined && position.commit !== UNKNOWN;
}

function hex(number: bigint): string {
  return number.toString(16).padStart(16, '0');
}
