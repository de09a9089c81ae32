import type { Aggregate } from '../domain/aggregates.ts';
import type { ExpectedRevision, Position } from '../event-log/event-log.ts';

/** The state folded from a stream, and the end of the stream. */
export type StreamState<State> = {
  readonly state: State;
  readonly revision: ExpectedRevision;
  readonly hash: string | null;
  /** Position of the last event of the stream. */
  readonly position: Position | undefined;
};

export function emptyStream<State, Command, Event>(
  aggregate: Aggregate<State, Command, Event>,
): StreamState<State> {
  return { state: aggregate.decider.initial, revision: 'none', hash: null, position: undefined };
}
