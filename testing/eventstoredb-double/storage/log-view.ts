import type { StreamState } from './append-check.ts';
import type { PageRequest } from './sqlite-storage.ts';
import type { StoredEvent } from './stored-events.ts';
import type { StoredLog } from './stored-log.ts';
import type { StreamMetadataReader } from './stream-metadata.ts';

/** The log as one node sees it: all of it, or, once the node is cut off, all that was there then. */
export class LogView {
  readonly #log: StoredLog;
  #upTo: bigint | undefined;

  constructor(log: StoredLog) {
    this.#log = log;
  }

  /** Returns the position of the next event. */
  get end(): bigint {
    return this.#upTo === undefined ? this.#log.storage.end : this.#upTo + 1n;
  }

  get metadata(): StreamMetadataReader {
    return this.#log.metadata;
  }

  /** Leaves out events that are appended from now on. */
  freeze(): void {
    this.#upTo = this.#log.storage.end - 1n;
  }

  thaw(): void {
    this.#upTo = undefined;
  }

  /** Returns a page of `$all`, with the events that clients do not see. */
  page(from: bigint, request: PageRequest): StoredEvent[] {
    return this.#log.storage.page(from, { ...request, upTo: this.#upTo });
  }

  /** Returns a page of a stream, or undefined when there is no such stream. */
  pageOf(stream: string, from: number, request: PageRequest): StoredEvent[] | undefined {
    return this.#log.pageOf(stream, from, { ...request, upTo: this.#upTo });
  }

  lastOf(stream: string): StoredEvent | undefined {
    return this.pageOf(stream, Number.MAX_SAFE_INTEGER, { count: 1, backwards: true })?.[0];
  }

  eventOf(stream: string, revision: number): StoredEvent | undefined {
    const event = this.#log.storage.eventOf(stream, revision);
    return event && (this.#upTo === undefined || event.position <= this.#upTo) ? event : undefined;
  }

  stateOf(stream: string): StreamState {
    const idAt = (revision: number) => this.eventOf(stream, revision)?.id;
    return { ...this.#log.stateOf(stream, this.#upTo), idAt };
  }
}
