import type { Position } from '../event-log/event-log.ts';

/**
 * Returns the engine of the log that stored positions belong to. Of which log of that engine they are, only the event
 * applied last says. Older releases stored the hosts of a server as well, which each node may spell in another way.
 */
export function engineIn(origin: string): string {
  return origin.split(' ', 1)[0] ?? origin;
}

/** New values by the name of the view and the key; `undefined` removes a value. */
export type ViewValues = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** The read interface of one view, for the code that serves it. Queries write first what the view has accepted. */
export interface View<Type> {
  /**
   * Resolves to the view for queries that write nothing, once all that it has accepted until the call is written.
   * Queries that many clients send use it: they do not delay other requests.
   */
  settled(): Promise<View<Type>>;
  get(key: string): Type | undefined;
  /** Returns all values, in the order of their keys. */
  values(): IterableIterator<Type>;
  /** Returns values whose fields match, at most `limit`. */
  find(query: ViewQuery): Type[];
  /**
   * Returns the key of the candidate at this place, from 0, in the order of the keys. Candidates are the values that
   * have the texts, labels and ids of the query and are `before` its key, whatever its other conditions: those cost
   * most, so that callers examine a number of candidates at a time. Without texts, labels and ids, candidates are those
   * that fit the conditions on the fields of `index`; returns the field by which the query orders. Returns `undefined`
   * if there are fewer.
   */
  candidateAt(query: Omit<ViewQuery, 'limit'>, place: number): number | string | undefined;
  /** Counts matching values. Fast only if an index covers every field of the query. */
  count(query: Omit<ViewQuery, 'limit'>): number;
  /**
   * Counts the values with these fields, by each value of the last counter field. Reads counters, so it is fast for any
   * number of values.
   */
  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number>;
}

export type ViewQuery = {
  /** One of the indexes of the projection, to override the choice of the store. */
  readonly index?: readonly string[];
  /** Values by the field, or by `key` for the key, which is text. */
  readonly equal?: Readonly<Record<string, string | number>>;
  /** A field and the values of which it has one. */
  readonly among?: { readonly field: string; readonly values: readonly string[] };
  /** A field, or `key`, and its minimum, inclusive. */
  readonly from?: { readonly field: string; readonly value: string | number };
  /** A field and its maximum, inclusive. */
  readonly upTo?: { readonly field: string; readonly value: string | number };
  /** The lowest key, for queries by texts, labels or ids. */
  readonly lowestKey?: number;
  /** A field, or `key`, and the value that it is less than. */
  readonly before?: { readonly field: string; readonly value: string | number };
  /** Texts by the field that contains all of them, in any case. Those of one or two characters are slow. */
  readonly contains?: Readonly<Record<string, readonly string[]>>;
  /** Texts that the field of labels has, all of them. */
  readonly labels?: readonly string[];
  /** Ids that the field of ids has, all of them. */
  readonly ids?: readonly string[];
  /** A field; `key` orders by the number that is the key. */
  readonly orderBy?: string;
  readonly descending?: boolean;
  readonly limit: number;
  readonly offset?: number;
};

/** Progress of a view. */
export type Reached = {
  readonly name: string;
  readonly version: number;
  /** Prefix of the streams whose events the view shows. */
  readonly streamPrefix: string;
  /** Position up to which the view has read the log. */
  readonly position: Position | undefined;
  /** Number of events that were applied to the view since the start. */
  readonly events: number;
};

/** The position that the queries of a view have reached: lower than that of the views while the disk is full. */
export type ReachedByQueries = {
  readonly position: Position | undefined;
  /** Resolves to whether queries have passed a position in time. */
  passed(position: Position, timeoutMs: number): Promise<boolean>;
  /** Returns whether queries find all that the view has seen of the log. */
  isCurrent(): boolean;
};
