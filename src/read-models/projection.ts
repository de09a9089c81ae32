import type { Codec } from '../domain/codec.ts';

/**
 * One view of each stream, under the key that stands behind the stream's prefix: how each event changes it. Handlers are pure and never refuse; what they return is the new view,
 * `undefined` removes it. A change of shape or meaning raises `version`, and the view is built anew.
 */
export type Projection<View, Event extends { type: string }> = {
  readonly name: string;
  readonly version: number;
  /** Whose events it shows. */
  readonly source: { readonly prefix: string; readonly codec: Codec<Event> };
  /** Fields by which views are found, in the order in which they are told apart. */
  readonly indexes?: readonly (readonly string[])[];
  /** Fields by whose values views are counted, texts that every view has; the last is what others are told by. */
  readonly countedBy?: readonly string[];
  readonly when: {
    readonly [Type in Event['type']]?: (
      view: View | undefined,
      event: Extract<Event, { type: Type }> & Recorded,
    ) => View | undefined;
  };
};

/** A projection whoever it is of: it is only ever given its own views and events. */
export type AnyProjection = Projection<unknown, { type: string }>;

/** When and where an event was recorded. */
export type Recorded = {
  /** RFC 3339, UTC. */
  readonly occurredAt: string;
  /** Number of the event in its stream. */
  readonly revision: number;
  /** Its place among all events of the log. */
  readonly position: string;
};

/** Under which the view of a stream is kept. */
export function keyOf({ prefix }: { readonly prefix: string }, stream: string): string {
  return stream.slice(prefix.length);
}
