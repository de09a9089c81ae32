import type { Position } from '../event-log/event-log.ts';
import type { ViewQuery } from './view-store.ts';

/** The read interface of one view, for the code that serves it. */
export interface View<Type> {
  get(key: string): Type | undefined;
  values(): IterableIterator<Type>;
  find(query: ViewQuery): Type[];
  count(query: Omit<ViewQuery, 'limit'>): number;
  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number>;
}

/** Progress of a view. */
export type Reached = {
  readonly name: string;
  /** Prefix of the streams whose events the view shows. */
  readonly streamPrefix: string;
  /** Position up to which the view has read the log. */
  readonly position: Position | undefined;
  /** Number of events that were applied to the view since the start. */
  readonly events: number;
};

/** The position that queries of a view have reached. It is lower than that of the view while the disk is full. */
export type ReachedByQueries = {
  readonly position: Position | undefined;
  /** Resolves to whether queries have passed a position in time. */
  passed(position: Position, timeoutMs: number): Promise<boolean>;
  /** Returns whether queries find all that the views of this node have seen of the log. */
  isCurrent(): boolean;
};
