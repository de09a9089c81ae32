import type { Readable } from 'node:stream';

/**
 * Where bytes live: archives, metadata entries and manifests, each under the SHA-256 of its content.
 * An object appears whole, verified and durable, or not at all; it is never overwritten.
 */
export interface ArchiveStore extends AsyncDisposable {
  /**
   * Takes the bytes as they come, verifying what was promised. Resolves once the object is durable; until then
   * no chunk may change.
   * Nothing is left behind when it rejects, be it because the source failed or a promise was broken.
   * @throws {BrokenPromise} the bytes are not what was promised, or more than `maxLength`.
   * @throws {ArchiveStoreUnavailable} the store cannot be reached, is full or fails to write.
   */
  put(source: AsyncIterable<Uint8Array>, promised?: Promised): Promise<StoredObject>;

  /**
   * The bytes again, hashed on the way: a stream that ends without an error has delivered exactly the object.
   * @throws {ObjectMissing}
   * The stream itself fails with {@link ObjectCorrupt} when the bytes are not those of the name, and with
   * {@link ObjectUnreadable} when the store cannot read them.
   */
  get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }>;

  /** Length in bytes, or `undefined` for an object that is not there. */
  stat(sha256: string): Promise<{ readonly length: number } | undefined>;

  /**
   * The object where synchronous readers can reach it: a local file, or memory when it is small.
   * To be disposed of: a store that is not local hands out a temporary copy. The bytes are not verified.
   * @throws {ObjectMissing}
   * @throws {ObjectUnreadable}
   */
  checkOut(sha256: string): Promise<LocalObject>;

  /** Every object, in no particular order. */
  list(): AsyncIterable<ListedObject>;

  /**
   * Removes an object; no error when it is not there. Only for objects that no event names.
   *
   * An object that is put again is stored from then on (`storedAt`), and with `storedBefore` an object stored
   * later stays: looking and removing are one step. So whoever removes orphans first takes a moment that lies
   * back by more than the longest time between a `put` and the append of the event that names it, then reads
   * the log to its end, and removes what no event names with that moment as `storedBefore`.
   */
  remove(sha256: string, options?: { readonly storedBefore?: Date }): Promise<void>;

  /** Removes what interrupted uploads left and that is older than `olderThan`; tells how many. */
  sweepIncoming(olderThan: Date, options?: { readonly dryRun?: boolean }): Promise<number>;

  /**
   * Resolves to the id of this store, `undefined` until it has one. The event log names it, too.
   * @throws {StoreDamaged}
   */
  id(): Promise<string | undefined>;

  /** Gives the store an id, durably, in place of the one that it has. */
  setId(id: string): Promise<void>;

  /** Resolves when the store can take an object now, else rejects with {@link ArchiveStoreUnavailable}. */
  ready(): Promise<void>;
}

export type Promised = {
  /** 32 lower-case hex digits. MD5 is computed only when this is given. */
  readonly md5?: string;
  /** 64 lower-case hex digits. */
  readonly sha256?: string;
  /** Exact number of bytes. */
  readonly length?: number;
  /** More bytes than this are refused while they come. */
  readonly maxLength?: number;
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

/** Structured-cloneable, so that it can be handed to a worker thread. */
export type LocalSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
  readonly code: 'MD5_MISMATCH' | 'SHA256_MISMATCH' | 'LENGTH_MISMATCH' | 'TOO_LARGE';

  constructor(code: BrokenPromise['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A transient fault: unreachable, full, or failing to write. */
export class ArchiveStoreUnavailable extends Error {
  override readonly name = 'ArchiveStoreUnavailable';
  readonly code = 'ARCHIVE_STORE_UNAVAILABLE';
}

/** A file of the store is damaged: no other try succeeds until an operator has repaired it. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  readonly code = 'STORE_DAMAGED';
}

/** A newer release has made it: no other try of this one goes better. */
export class StoreFormatUnknown extends Error {
  override readonly name = 'StoreFormatUnknown';
  readonly code = 'STORE_FORMAT_UNKNOWN';
}

/** One object cannot be read, while the store gives others. Its name is in `sha256`. */
export abstract class ObjectError extends Error {
  abstract readonly code: 'OBJECT_MISSING' | 'OBJECT_CORRUPT' | 'OBJECT_UNREADABLE';
  readonly sha256: string;

  constructor(sha256: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.sha256 = sha256;
  }
}

export class ObjectMissing extends ObjectError {
  override readonly name = 'ObjectMissing';
  readonly code = 'OBJECT_MISSING';

  constructor(sha256: string) {
    super(sha256, `The archive store holds no object ${sha256}.`);
  }
}

export class ObjectCorrupt extends ObjectError {
  override readonly name = 'ObjectCorrupt';
  readonly code = 'OBJECT_CORRUPT';

  constructor(sha256: string, found: string) {
    super(sha256, `The object ${sha256} of the archive store holds other bytes: ${found}.`);
  }
}

/** The object is there, but reading its bytes fails. {@link unreadable} in unavailable.ts makes one of a cause. */
export class ObjectUnreadable extends ObjectError {
  override readonly name = 'ObjectUnreadable';
  readonly code = 'OBJECT_UNREADABLE';

  constructor(sha256: string, reason: string, options?: ErrorOptions) {
    const text = `The archive store cannot read the object ${sha256}, which is probably damaged: ${reason}.`;
    super(sha256, text, options);
  }
}
