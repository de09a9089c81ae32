import type { SqliteStorage } from './sqlite-storage.ts';

/** The part of a stream's metadata that the double heeds. */
export type StreamMetadata = {
  readonly truncateBefore: number;
  readonly maxCount: number;
  /** Roles by what they may do: `$r` read, `$w` write, `$d` delete, `$mr` and `$mw` the same for the metadata. */
  readonly acl: Readonly<Record<string, readonly string[]>>;
};

/** A stream that was deleted, but not for good, is truncated before this revision. */
const SOFT_DELETED = '9223372036854775807';

export function metadataStreamOf(stream: string): string {
  return `$$${stream}`;
}

/** Reads the newest metadata of streams, and remembers what it read. */
export class StreamMetadataReader {
  readonly #storage: SqliteStorage;
  readonly #known = new Map<string, StreamMetadata>();

  constructor(storage: SqliteStorage) {
    this.#storage = storage;
  }

  of(stream: string): StreamMetadata {
    const known = this.#known.get(stream);
    if (known) return known;
    const { $tb = 0, $maxCount = Number.POSITIVE_INFINITY, $acl = {} } = this.#newest(stream);
    const lists = Object.entries($acl).map(([right, roles]) => [right, [roles].flat()] as const);
    const metadata = { truncateBefore: $tb, maxCount: $maxCount, acl: Object.fromEntries(lists) };
    if (this.#known.size > 10_000) this.#known.clear();
    this.#known.set(stream, metadata);
    return metadata;
  }

  isDeleted(stream: string): boolean {
    return this.of(stream).truncateBefore >= Number(SOFT_DELETED);
  }

  /** Must be called after every append. */
  forget(stream: string): void {
    if (stream.startsWith('$$')) this.#known.delete(stream.slice(2));
  }

  /** Returns the metadata, as JSON, that deletes the stream. */
  deleting(stream: string): string {
    const { $tb: _, ...others } = this.#newest(stream);
    return JSON.stringify({ ...others, $tb: '@' }).replace('"@"', SOFT_DELETED);
  }

  /** Returns the metadata, as JSON, of a deleted stream that has events again from this revision on. */
  beginningAt(stream: string, revision: number): string {
    return JSON.stringify({ ...this.#newest(stream), $tb: revision });
  }

  #newest(stream: string): WrittenMetadata {
    const [last] = this.#storage.pageOf(metadataStreamOf(stream), Number.MAX_SAFE_INTEGER, {
      count: 1,
      backwards: true,
    });
    try {
      return last ? (JSON.parse(new TextDecoder().decode(last.data)) as WrittenMetadata) : {};
    } catch {
      return {}; // a server heeds no metadata that it cannot read
    }
  }
}

type WrittenMetadata = {
  readonly $tb?: number;
  readonly $maxCount?: number;
  readonly $acl?: Readonly<Record<string, string | readonly string[]>>;
};
