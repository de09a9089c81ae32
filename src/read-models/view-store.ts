import type { Position } from '../event-log/event-log.ts';

/**
 * Where views live on this node. It may be deleted at any time: the views are built again from the log.
 * Synchronous, since it is local and every request reads from it.
 */
export interface ViewStore extends Disposable {
  /** The table of a projection; empty and without a position when its version is new. */
  open(projection: { readonly name: string; readonly version: number }): ViewTable;
  /** Applies all changes and positions in one transaction. */
  commit(changes: readonly TableChange[]): void;
}

export interface ViewTable {
  readonly name: string;
  /** Up to where the log is in this table; `undefined` before its first event. */
  readonly position: Position | undefined;
  get(key: string): unknown;
  /** All views, in the order of their keys. */
  values(): IterableIterator<unknown>;
  readonly size: number;
}

export type TableChange = {
  readonly table: ViewTable;
  /** New views by key; `undefined` removes one. */
  readonly views: ReadonlyMap<string, unknown>;
  /** `undefined` empties the table and begins anew. */
  readonly position: Position | undefined;
};
