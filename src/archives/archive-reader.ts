import { type LocalSource, ObjectCorrupt } from '../object-store/object-store.ts';

/** The listing of an archive that is merged with others. */
export type ArchiveListing = {
  readonly sha256: string;
  readonly listing: Uint8Array;
  /** The depositor's name of the archive; its digest if omitted. */
  readonly name?: string;
};

/** The format of an archive, determined by its first bytes, never by its name. */
export type ArchiveFormat = 'zip' | 'tar' | 'tar.gz' | 'tar.bz2' | 'tar.xz';

/**
 * One fault or warning about an archive. `text` is a sentence that a depositor can act on; the caller adds the
 * archive's name.
 */
export type ArchiveFault = { readonly code: string; readonly text: string };

/** The findings of one reading of an archive from its first to its last byte. */
export type Inspection =
  | {
      readonly outcome: 'accepted';
      readonly format: ArchiveFormat;
      /** Number of files and links. */
      readonly files: number;
      /** Sum of the lengths of the files, unpacked. */
      readonly bytes: number;
      /** At most 20, and the first of each further code; a last one counts the rest. */
      readonly warnings: readonly ArchiveFault[];
      /** The members as canonical lines, see `deposit-tree.ts`: always the same bytes for the same archive. */
      readonly listing: Uint8Array;
      /** SHA-256 of the listing, which can have tens of megabytes. */
      readonly listingSha256: string;
      /** The tree of a deposit of this archive alone; only of a small archive that can be merged. */
      readonly tree?: Tree;
    }
  | {
      readonly outcome: 'refused';
      readonly format: ArchiveFormat | null;
      /** At least one, and no more than there may be warnings. */
      readonly faults: readonly ArchiveFault[];
    };

/** The findings of one reading, and the SHA-256 of the bytes read. */
export type HashedInspection = { readonly inspection: Inspection; readonly found: string };

/** Returns the inspection. @throws {ObjectCorrupt} the bytes were not the expected ones, so the inspection is void. */
export function trustInspection({ inspection, found }: HashedInspection, sha256: string): Inspection {
  if (found !== sha256) throw new ObjectCorrupt(sha256, `their SHA-256 is ${found}`);
  return inspection;
}

/** The tree of a deposit: the listings of its archives merged in upload order. */
export type Tree = {
  readonly outcome: 'accepted';
  /** SHA-1 of the root tree, 40 hex digits: the `dir` identifier. */
  readonly directory: string;
  readonly files: number;
  readonly bytes: number;
  readonly manifest: Uint8Array;
};

export type Merged = Tree | { readonly outcome: 'refused'; readonly faults: readonly ArchiveFault[] };

/**
 * More bytes than all listings of a deposit can have whose members and paths are within the limits of merging them. A
 * deposit with more is refused.
 */
export const LARGEST_LISTINGS = 400 * 1024 ** 2;

export type ArchiveLimits = {
  /** Unpacked bytes of one archive. */
  readonly unpackedBytes: number;
  /** Unpacked : packed, checked once more than `ratioFloor` bytes are unpacked. */
  readonly ratio: number;
  readonly ratioFloor: number;
  readonly members: number;
  /** Bytes of a member's whole path, bytes of one segment of it, and number of the folders in it. */
  readonly pathBytes: number;
  readonly nameBytes: number;
  readonly depth: number;
  readonly linkTargetBytes: number;
  /**
   * Whether to refuse a tar that readers understand differently, although older releases accepted it: the target of a hard
   * link is repeated after the link, a number begins with a NUL, or a long name goes on behind its size.
   */
  readonly rejectAmbiguities: boolean;
  /** Milliseconds for one archive: a base, plus its packed size divided by the bytes per millisecond. */
  readonly wallTime: number;
  readonly wallBytesPerMs: number;
};

export const defaultArchiveLimits: ArchiveLimits = {
  unpackedBytes: 512 * 1024 ** 2,
  ratio: 200,
  ratioFloor: 64 * 1024 ** 2,
  members: 100_000,
  pathBytes: 4096,
  nameBytes: 255,
  depth: 64,
  linkTargetBytes: 4096,
  rejectAmbiguities: true,
  wallTime: 120_000,
  wallBytesPerMs: 4096,
};

/** Reads archives in other threads. */
export interface ArchiveReader extends AsyncDisposable {
  /**
   * Reads the archive to its end: structure, checksums, limits, hashes. Never rejects because of its contents; a worker
   * that crashes or exceeds its time limit results in `refused`, too. Waiting jobs are served round-robin by owner.
   * @throws {ObjectCorrupt} the bytes do not match `sha256`: a fault of the store, not of the archive.
   */
  inspect(source: LocalSource, sha256: string, limits: ArchiveLimits, owner?: string): Promise<Inspection>;

  /**
   * Merges listings in upload order; a later leaf replaces an earlier one of the same path. The buffers of the listings
   * are transferred and detached.
   */
  merge(listings: readonly ArchiveListing[], owner?: string): Promise<Merged>;
}
