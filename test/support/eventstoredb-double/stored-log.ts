export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

export type StoredEvent = ProposedEvent & {
  readonly stream: string;
  readonly revision: number;
  /** Commit and prepare position alike, as for every event that was not written in an explicit transaction. */
  readonly position: bigint;
  /** Hundreds of nanoseconds since 1970. */
  readonly created: bigint;
};

export type Expected = number | 'none' | 'any' | 'exists';

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly last: StoredEvent }
  | { readonly kind: 'already there'; readonly first: StoredEvent; readonly last: StoredEvent }
  | { readonly kind: 'refused'; readonly actual: number };

const RECORD_SIZE = 211n;

/** What the server has stored: streams and one order over all. */
export class StoredLog {
  readonly all: StoredEvent[] = [];
  readonly #streams = new Map<string, StoredEvent[]>();
  readonly #listeners = new Set<() => void>();

  stream(name: string): readonly StoredEvent[] {
    return this.#streams.get(name) ?? [];
  }

  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): AppendOutcome {
    const stored = this.stream(stream);
    if (!fits(expected, stored.length)) return alreadyThere(stored, expected, events);
    for (const event of events) this.#store(stream, event);
    for (const listener of this.#listeners) listener();
    return { kind: 'appended', last: this.stream(stream).at(-1) as StoredEvent };
  }

  /** An event of the server itself, as every real log has many. */
  appendSystemEvent(stream = '$$deposit-1', type = '$metadata'): void {
    const bytes = new TextEncoder().encode('{}');
    this.append(stream, 'any', [
      { id: crypto.randomUUID(), type, contentType: 'application/json', data: bytes, metadata: bytes },
    ]);
  }

  /** Calls back at every append until the returned function is called. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #store(stream: string, event: ProposedEvent): void {
    const stored = this.#streams.get(stream) ?? [];
    const position = BigInt(this.all.length + 1) * RECORD_SIZE;
    const created = BigInt(Date.now()) * 10_000n;
    const recorded = { ...event, stream, revision: stored.length, position, created };
    stored.push(recorded);
    this.all.push(recorded);
    this.#streams.set(stream, stored);
  }
}

function fits(expected: Expected, length: number): boolean {
  if (expected === 'any') return true;
  if (expected === 'exists') return length > 0;
  return (expected === 'none' ? -1 : expected) === length - 1;
}

function alreadyThere(
  stored: readonly StoredEvent[],
  expected: Expected,
  events: readonly ProposedEvent[],
): AppendOutcome {
  const refused = { kind: 'refused', actual: stored.length - 1 } as const;
  if (expected === 'any' || expected === 'exists') return refused;
  const start = expected === 'none' ? 0 : expected + 1;
  const there = stored.slice(start, start + events.length);
  const [first, last] = [there[0], there.at(-1)];
  const same = there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
  return same && first && last ? { kind: 'already there', first, last } : refused;
}
