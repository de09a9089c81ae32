import type { Readable } from 'node:stream';
import { CodedError, errorsOfCode } from '../tools/coded-error.ts';

/**
 * Stores bytes: archives, metadata entries and manifests, each under the SHA-256 of its content. An object appears
 * complete, verified and durable, or not at all; it is never overwritten.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Stores the bytes, as they arrive or from memory, and verifies the expected content. Resolves once the object is
   * durable; until then no chunk may change. Leaves no data when it rejects, because of a failed source or a mismatch.
   * @throws {ContentMismatch} the bytes are not the expected ones, or more than `maxLength`.
   * @throws {ObjectStoreUnavailable} the store cannot be reached, is full or fails to write.
   */
  put(source: ChunkSource, promised?: ExpectedContent): Promise<StoredObject>;

  /**
   * Resolves to the length of the object, and to its bytes as a stream that hashes them: if it ends without an error it
   * has delivered exactly the object. Bytes from a later offset than 0 are not verified. The stream must be read or
   * destroyed.
   * @throws {ObjectMissing}
   * @throws {ObjectUnreadable} The stream itself fails with {@link ObjectCorrupt} when the bytes do not match the name,
   * and with {@link ObjectUnreadable} when the store cannot read them.
   */
  get(sha256: string, from?: number): Promise<{ readonly length: number; readonly body: Readable }>;

  /** Resolves to the length in bytes, or to `undefined` for a missing object. */
  stat(sha256: string): Promise<{ readonly length: number } | undefined>;

  /**
   * Makes the object available to synchronous readers: as a local file, or in memory when it is small. Must be disposed
   * of, since a remote store creates a temporary copy. The bytes are not verified.
   * @throws {ObjectMissing}
   * @throws {ObjectUnreadable}
   */
  materialize(sha256: string): Promise<LocalObject>;

  /** Yields every object, in no particular order. */
  list(): AsyncIterable<ListedObject>;

  /**
   * Removes an object; no error when it is missing. Only for objects that no event names.
   *
   * Putting an object again updates its `storedAt`, and with `storedBefore` an object stored later stays: check and
   * removal are one step. To remove orphans, first choose a moment in the past, further back than the longest time
   * between a `put` and the append of the event that names it. Then read the log to its end, and remove objects that no
   * event names with that moment as `storedBefore`.
   */
  remove(sha256: string, options?: { readonly storedBefore?: Date }): Promise<void>;

  /**
   * Removes what interrupted uploads and reads left before `olderThan`, except what this store still uses. Resolves to
   * the number of removals.
   */
  sweepIncoming(olderThan: Date, options?: SweepIncomingOptions): Promise<number>;

  /**
   * Resolves to the id of this store, `undefined` until it has one. The event log names it, too.
   * @throws {StoreDamaged}
   */
  id(): Promise<string | undefined>;

  /** Gives the store an id, durably, in place of its present one. A proposal of this instance is removed. */
  setId(id: string): Promise<void>;

  /** Records durably that the store may get this id. The record is swept like the rest of an interrupted upload. */
  proposeId(id: string): Promise<void>;

  /** Whether this id was proposed to this store. */
  isProposed(id: string): Promise<boolean>;

  /** Resolves when the store can accept an object now, else rejects with {@link ObjectStoreUnavailable}. */
  ready(): Promise<void>;
}

/** The store as an audit reads it. */
export type StoreAudit = AsyncDisposable &
  Pick<ObjectStore, 'get' | 'stat' | 'materialize' | 'list' | 'id' | 'ready'> & {
    /** Resolves to faults of the storage that reading the objects does not show. */
    structure(): Promise<readonly { readonly file: string; readonly text: string }[]>;
  };

/** The bytes of an object, in chunks: those of a body arrive one by one. */
export type ChunkSource = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export type ExpectedContent = {
  /** 32 lower-case hex digits. MD5 is computed only when this is given. */
  readonly md5?: string;
  /** 64 lower-case hex digits. */
  readonly sha256?: string;
  /** Exact number of bytes. */
  readonly length?: number;
  /** Maximum number of bytes; a longer body is refused while it arrives. */
  readonly maxLength?: number;
};

export type SweepIncomingOptions = {
  /** Removes nothing, only counts. */
  readonly dryRun?: boolean;
  /** Sweeps the files of this machine alone, and asks no server. */
  readonly onlyFiles?: boolean;
};

export type StoredObject = {
  /** 64 lower-case hex digits: the name of the object. */
  readonly sha256: string;
  readonly length: number;
};

export type ListedObject = StoredObject & { readonly storedAt: Date };

export type LocalObject = AsyncDisposable & {
  readonly length: number;
  readonly source: LocalSource;
};

/** A source that can be structured-cloned, so that it can be sent to a worker thread. */
export type LocalSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export class ContentMismatch extends CodedError<
  'MD5_MISMATCH' | 'SHA256_MISMATCH' | 'LENGTH_MISMATCH' | 'TOO_LARGE'
> {}

/** A transient fault: the store is unreachable, full, or fails to write. */
export class ObjectStoreUnavailable extends errorsOfCode('ARCHIVE_STORE_UNAVAILABLE') {}

/** A file of the store is corrupt: no retry succeeds until an operator has repaired it. */
export class StoreDamaged extends errorsOfCode('STORE_DAMAGED') {}

/** A newer release has written the store: no retry of this one succeeds. */
export class StoreFormatUnknown extends errorsOfCode('STORE_FORMAT_UNKNOWN') {}

/** One object cannot be read, while the store returns others. Its name is in `sha256`. */
export abstract class ObjectError extends CodedError<
  'OBJECT_MISSING' | 'OBJECT_CORRUPT' | 'OBJECT_UNREADABLE'
> {
  readonly sha256: string;

  constructor(code: ObjectError['code'], sha256: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.sha256 = sha256;
  }
}

export class ObjectMissing extends ObjectError {
  constructor(sha256: string) {
    super('OBJECT_MISSING', sha256, `The archive store has no object ${sha256}.`);
  }
}

export class ObjectCorrupt extends ObjectError {
  constructor(sha256: string, found: string) {
    super('OBJECT_CORRUPT', sha256, `The object ${sha256} of the archive store holds other bytes: ${found}.`);
  }
}

/** The object exists, but reading its bytes fails. {@link unreadable} in store-errors.ts creates one from a cause. */
export class ObjectUnreadable extends ObjectError {
  constructor(sha256: string, reason: string, options?: ErrorOptions) {
    const text = `The archive store cannot read the object ${sha256}, which is probably corrupt: ${reason}.`;
    super('OBJECT_UNREADABLE', sha256, text, options);
  }
}
