import type { ProposedEvent, StoredEvent } from './stored-events.ts';

export type PageRequest = {
  readonly count: number;
  readonly backwards?: boolean;
  /** Events behind this position are left out. */
  readonly upTo?: bigint | undefined;
};

/** The place where the events of a server are stored. Every method is synchronous, so that no two of them interleave. */
export interface EventStorage extends Disposable {
  readonly count: number;
  /** Position of the next event. */
  readonly end: bigint;
  /** Stores all of them or none. Streams begin with their first event. */
  store(stream: string, events: readonly ProposedEvent[], created: bigint): readonly StoredEvent[];
  /** Stores an event with the position and the revision that it has elsewhere. */
  load(event: StoredEvent): void;
  /** Returns the number of events that the stream has had, also of those that were discarded. */
  nextRevision(stream: string, upTo?: bigint): number;
  eventOf(stream: string, revision: number): StoredEvent | undefined;
  /** Returns a page of one stream from a revision on, which is included. */
  pageOf(stream: string, from: number, request: PageRequest): StoredEvent[];
  /** Returns a page of the whole log from a position on, which is included. */
  page(from: bigint, request: PageRequest): StoredEvent[];
  streams(): string[];
  /** Removes events of the stream before the revision that lie before the position; returns how many. */
  discard(stream: string, before: number, upTo: bigint): number;
  /** Makes the changes of `work` in one transaction. */
  together(work: () => void): void;
}
