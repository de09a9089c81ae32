import type { Position } from '../../src/event-log/event-log.ts';

export type LogPosition = { readonly commit: bigint; readonly prepare: bigint };

/** An event as the client library gives it, with what the simulation has to know of it. */
export type StoredEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly streamId: string;
  readonly revision: bigint;
  readonly position: LogPosition;
  readonly isJson: true;
  readonly created: Date;
  /** Its place in the log, rising. */
  readonly number: number;
  /** Its position as the service has it. */
  readonly place: Position;
  /** Virtual time of its commit. */
  readonly committedAt: number;
};

export type NewEvent = Pick<StoredEvent, 'id' | 'type' | 'data' | 'metadata'>;

/** An event as messages name it. */
export function nameOf({ streamId, revision }: Pick<StoredEvent, 'streamId' | 'revision'>): string {
  return `${streamId}@${revision}`;
}

export function positionOf(number: number): LogPosition {
  return { commit: BigInt(number), prepare: BigInt(number) };
}
