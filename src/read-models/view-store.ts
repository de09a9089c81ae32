import type { Position, RecordedEvent } from '../event-log/event-log.ts';

/**
 * Where views live on this node. They may be deleted at any time: they are built again from the log.
 * Synchronous, since it is local and every request reads from it.
 */
export interface ViewStore extends Disposable {
  /** The table of a projection; empty and without a position when its version is new. */
  open(projection: TableShape): ViewTable;
  /**
   * Writes what the tables have taken, the views and the position of each in one transaction.
   * @throws {ViewUnavailable} the disk does not take them at the moment; what it did take is whole.
   */
  save(tables: readonly ViewTable[]): void;
  /** Before a table is looked up by anything but keys: makes its indexes and counts, which slow its filling. */
  addLookups(table: ViewTable): void;
  /** Touches nothing. @throws {ViewUnavailable} there is no such generation, or it is none of this service. */
  assertBuilt(projection: TableShape, generation: number): void;
  /** A table that was built beside the one in use. @throws {ViewUnavailable} as {@link assertBuilt} does */
  openGeneration(projection: TableShape, generation: number): ViewTable & Disposable;
  /** What is wrong with a table that can be read no more, in a sentence. */
  readonly damage: string | undefined;
  /** From now on the table, and whoever reads it, has what `generation` has; the old one is kept on disk. */
  replace(table: ViewTable, generation: ViewTable): void;
}

/** What a store has to know of a projection. */
export type TableShape = {
  readonly name: string;
  readonly version: number;
  /** Fields by which views are found, in the order in which they are told apart. */
  readonly indexes?: readonly (readonly string[])[];
  /** Fields by whose values views are counted, texts that every view has; the last is what others are told by. */
  readonly countedBy?: readonly string[];
};

/** Which event a table has seen last. */
export type Seen = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>;

export interface ViewTable {
  readonly name: string;
  /** Up to where the log is in this table; `undefined` before its first event. */
  readonly position: Position | undefined;
  /** The event at {@link position}; `undefined` before its first event, and where an older release has written. */
  readonly lastSeen: Seen | undefined;
  /**
   * Up to where it is in what is found by anything but a key: what was taken is written for that first, so it is less
   * than {@link position} only while the disk takes nothing.
   */
  readonly queried: Position | undefined;
  /** How many views were taken, but are not written yet. */
  readonly unsaved: number;
  /**
   * New views by key, `undefined` removes one: as they are when the log is in the table up to `last`. Whoever
   * reads sees them at once; they are written by {@link ViewStore.save}, and come again from the log when that
   * does not happen any more.
   */
  take(views: ReadonlyMap<string, unknown>, last: Seen): void;
  /** Empties the table: it begins anew, also without what {@link ViewStore.addLookups} has made. */
  clear(): void;
  get(key: string): unknown;
  /** All views, in the order of their keys. */
  values(): IterableIterator<unknown>;
  /** Views whose fields have these values, at most `limit`. */
  find(query: ViewQuery): unknown[];
  /** How many views have these values, counted now: quick only as far as an index has all that is asked for. */
  count(query: Omit<ViewQuery, 'limit'>): number;
  /**
   * How many views have each value of the field that they are counted by last, of those with these values of the
   * other ones: quick, however many there are.
   */
  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number>;
}

export type ViewQuery = {
  /** One of the indexes of the projection, when the store is not to choose itself. */
  readonly index?: readonly string[];
  readonly equal?: Readonly<Record<string, string | number>>;
  /** A field, and its least value. */
  readonly from?: { readonly field: string; readonly value: string | number };
  /** A field, and its greatest value. */
  readonly upTo?: { readonly field: string; readonly value: string | number };
  readonly orderBy?: string;
  readonly descending?: boolean;
  readonly limit: number;
  readonly offset?: number;
};
