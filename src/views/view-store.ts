import type { Position, RecordedEvent } from '../event-log/event-log.ts';

/**
 * Stores the views of this node. They may be deleted at any time: they are rebuilt from the log. Synchronous,
 * since it is local and every request reads from it.
 */
export interface ViewStore extends Disposable {
  /** Returns the table of a projection; empty and without a position when its version is new. */
  open(projection: ViewSchema): ViewTable;
  /**
   * Writes the accepted changes of the tables: views and position of each table in one transaction.
   * @throws {ViewUnavailable} the disk does not accept them at the moment; the transactions before the failed
   * one are complete.
   */
  save(tables: readonly ViewTable[]): void;
  /**
   * Creates the indexes and counters of a table, before its first lookup by anything but the key. They slow
   * down filling it.
   */
  addLookups(table: ViewTable): void;
  /**
   * Verifies a generation without changing it. @throws {ViewUnavailable} there is no such generation, or it
   * does not belong to this service.
   */
  assertBuilt(projection: ViewSchema, generation: number): void;
  /** Opens a generation that is not in use. @throws {ViewUnavailable} as {@link assertBuilt} does */
  openGeneration(projection: ViewSchema, generation: number): ViewTable & Disposable;
  /** Description of the corruption of a table that cannot be read, as a sentence. */
  readonly damage: string | undefined;
  /**
   * Replaces the contents of the table by `generation`, for all its readers; the old generation stays on
   * disk.
   */
  replace(table: ViewTable, generation: ViewTable): void;
}

/** The part of a projection that a store needs. */
export type ViewSchema = {
  readonly name: string;
  readonly version: number;
  /**
   * Fields of each index, in the order of the columns of the index.
   */
  readonly indexes?: readonly (readonly string[])[];
  /**
   * Fields of the maintained counters. All must be strings that every view has; the last one is the counted
   * dimension.
   */
  readonly countedBy?: readonly string[];
};

/** Identifies the event that a table applied last. */
export type EventRef = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>;

export interface ViewTable {
  readonly name: string;
  /** Position up to which this table has applied the log; `undefined` before its first event. */
  readonly position: Position | undefined;
  /**
   * The event at {@link position}; `undefined` before its first event, and if an older release wrote the
   * file.
   */
  readonly lastSeen: EventRef | undefined;
  /**
   * Position that lookups by fields other than the key have reached. Reading it writes accepted changes
   * first, so it is lower than {@link position} only while the disk accepts no writes.
   */
  readonly queryablePosition: Position | undefined;
  /** Number of views that were accepted but are not written yet. */
  readonly unsaved: number;
  /**
   * Accepts new views by key, as they are after the events up to `last`; `undefined` removes a view. Readers
   * see them at once; {@link ViewStore.save} writes them. If that never happens, they are read from the log
   * again.
   */
  take(views: ReadonlyMap<string, unknown>, last: EventRef): void;
  /** Empties the table, and removes all that {@link ViewStore.addLookups} created. */
  clear(): void;
  get(key: string): unknown;
  /** Returns all views, in the order of their keys. */
  values(): IterableIterator<unknown>;
  /** Returns views whose fields have these values, at most `limit`. */
  find(query: ViewQuery): unknown[];
  /** Counts matching views. Fast only if an index covers every field of the query. */
  count(query: Omit<ViewQuery, 'limit'>): number;
  /**
   * Counts the views with these field values, by each value of the last counter field. Reads counters, so it
   * is fast for any number of views.
   */
  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number>;
}

export type ViewQuery = {
  /** One of the indexes of the projection, to override the choice of the store. */
  readonly index?: readonly string[];
  readonly equal?: Readonly<Record<string, string | number>>;
  /** A field and its minimum, inclusive. */
  readonly from?: { readonly field: string; readonly value: string | number };
  /** A field and its maximum, inclusive. */
  readonly upTo?: { readonly field: string; readonly value: string | number };
  readonly orderBy?: string;
  readonly descending?: boolean;
  readonly limit: number;
  readonly offset?: number;
};
