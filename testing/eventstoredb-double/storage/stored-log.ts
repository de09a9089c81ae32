import { checkAppend, type Expected, type StreamState } from './append-check.ts';
import { type PageRequest, SqliteStorage } from './sqlite-storage.ts';
import type { ProposedEvent, StoredEvent } from './stored-events.ts';
import { metadataStreamOf, StreamMetadataReader } from './stream-metadata.ts';

export type AppendOutcome =
  | { readonly kind: 'appended' | 'already there'; readonly last: StoredEvent }
  | { readonly kind: 'refused'; readonly actual: number };

const PAGE = 500;

/** The committed events of a server or a cluster: streams and one order over all. */
export class StoredLog {
  readonly storage: SqliteStorage;
  readonly metadata: StreamMetadataReader;
  readonly #listeners = new Set<() => void>();

  constructor(storage: SqliteStorage = new SqliteStorage()) {
    this.storage = storage;
    this.metadata = new StreamMetadataReader(storage);
  }

  /** Returns every event, in a new array: for small logs. */
  get all(): StoredEvent[] {
    return this.storage.page(0n, { count: this.storage.count });
  }

  /** Returns every event of the stream that a client would read, in a new array. */
  stream(name: string): StoredEvent[] {
    return this.pageOf(name, 0, { count: this.storage.nextRevision(name) }) ?? [];
  }

  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): AppendOutcome {
    const check = checkAppend(
      this.stateOf(stream),
      expected,
      events.map(({ id }) => id),
    );
    if (check.kind === 'refused') return check;
    if (check.kind === 'there') {
      return { kind: 'already there', last: this.storage.eventOf(stream, check.last) as StoredEvent };
    }
    return { kind: 'appended', last: this.#store(stream, events) };
  }

  /** Appends an event of the server itself, as every real log has many. */
  appendSystemEvent(stream = '$$deposit-1', type = '$metadata', json = '{}'): StoredEvent {
    return this.#store(stream, [systemEvent(type, json)]);
  }

  /** Hides the events that the stream has. New ones continue its revisions. */
  delete(stream: string): StoredEvent {
    return this.appendSystemEvent(metadataStreamOf(stream), '$metadata', this.metadata.deleting(stream));
  }

  /** Returns what decides about appends; `upTo`: as it was when this position was the last. */
  stateOf(stream: string, upTo?: bigint): StreamState {
    return {
      nextRevision: this.storage.nextRevision(stream, upTo),
      isDeleted: this.metadata.isDeleted(stream),
      idAt: (revision) => this.storage.eventOf(stream, revision)?.id,
    };
  }

  /** Returns a page of what a client may read of the stream, or undefined when there is no such stream. */
  pageOf(stream: string, from: number, request: PageRequest): StoredEvent[] | undefined {
    const next = this.storage.nextRevision(stream, request.upTo);
    const { truncateBefore, maxCount } = this.metadata.of(stream);
    if (next === 0 || this.metadata.isDeleted(stream)) return undefined;
    const first = Math.max(truncateBefore, next - maxCount, 0);
    if (!request.backwards) return this.storage.pageOf(stream, Math.max(from, first), request);
    return this.storage.pageOf(stream, from, request).filter(({ revision }) => revision >= first);
  }

  /** Pages through the whole log, forwards, without holding more than one page. */
  *events(): Generator<StoredEvent> {
    let next = 0n;
    while (true) {
      const page = this.storage.page(next, { count: PAGE });
      yield* page;
      const last = page.at(-1);
      if (!last) return;
      next = last.position + 1n;
    }
  }

  /** Calls back after every append until the returned function is called. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #store(stream: string, events: readonly ProposedEvent[]): StoredEvent {
    const first = this.storage.nextRevision(stream);
    const revives = this.metadata.isDeleted(stream);
    const stored = this.storage.store(stream, events, BigInt(Date.now()) * 10_000n);
    this.metadata.forget(stream);
    if (revives) {
      const json = this.metadata.beginningAt(stream, first);
      this.storage.store(
        metadataStreamOf(stream),
        [systemEvent('$metadata', json)],
        stored[0]?.created ?? 0n,
      );
      this.metadata.forget(metadataStreamOf(stream));
    }
    for (const listener of this.#listeners) listener();
    return stored.at(-1) as StoredEvent;
  }
}

export function systemEvent(type: string, json: string): ProposedEvent {
  const [data, metadata] = [new TextEncoder().encode(json), new Uint8Array()];
  return { id: crypto.randomUUID(), type, contentType: 'application/json', data, metadata };
}
