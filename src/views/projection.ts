import type { Codec } from '../domain/codec.ts';

/**
 * Defines one view per stream, under the key that follows the stream's prefix, and how each event changes it. Handlers
 * are pure and never refuse; they return the new view, and `undefined` removes it. A change of shape or meaning, or of
 * the fields of indexes and counters, raises `version`; the view is then rebuilt.
 */
export type Projection<View, Event extends { type: string }> = {
  readonly name: string;
  readonly version: number;
  /** The streams whose events the view shows. */
  readonly source: { readonly prefix: string; readonly codec: Codec<Event> };
  /** Fields of each index, in the order of the columns of the index. */
  readonly indexes?: readonly (readonly string[])[];
  /**
   * Fields of the maintained counters. All must be strings that every view has; the last one is the counted dimension.
   */
  readonly countedBy?: readonly string[];
  /** Fields that queries search for text. All must be strings that every view has; the keys must be whole numbers. */
  readonly texts?: readonly string[];
  /** Field with a list of texts that queries find as a whole. Every view must have it; the keys must be whole numbers. */
  readonly labels?: string;
  /**
   * Field with ids that queries find as a whole: a string of ASCII letters and digits, with spaces between them. An id
   * costs a tenth of a label, but is slower to look up together with texts. Every view must have the field; the keys must
   * be whole numbers.
   */
  readonly ids?: string;
  readonly when: {
    readonly [Type in Event['type']]?: (
      view: View | undefined,
      event: Extract<Event, { type: Type }> & Recorded,
    ) => View | undefined;
  };
  /** Returns the view with fields that follow from its other fields. It is called once after several events. */
  readonly complete?: (view: View) => View;
};

/** A projection of any type. It is only ever given its own views and events. */
export type AnyProjection = Projection<unknown, { type: string }>;

/** The part of a projection that a store needs. */
export type ViewSchema = Pick<
  AnyProjection,
  'name' | 'version' | 'indexes' | 'countedBy' | 'texts' | 'labels' | 'ids'
>;

/** When, where and why an event was recorded. */
export type Recorded = {
  /** UUID of the event. */
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly occurredAt: string;
  /** Number of the event in its stream. */
  readonly revision: number;
  /** Position of the event in the log, among the events of all streams. */
  readonly position: string;
  /** The client, person, operator or reactor that caused it; events of foreign origin may have none. */
  readonly actor: { readonly kind: string; readonly name: string } | undefined;
  /** Id of the request that caused it. */
  readonly correlationId: string | undefined;
};

/** Returns the key under which the view of a stream is stored. */
export function keyOf({ prefix }: { readonly prefix: string }, stream: string): string {
  return stream.slice(prefix.length);
}
