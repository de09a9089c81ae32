import type { LocalSource } from '../archive-store/archive-store.ts';

export type OverlayListing = {
  readonly sha256: string;
  readonly listing: Uint8Array;
  /** What people call the archive; its digest where it is not given. */
  readonly name?: string;
};

/** What an archive is, decided by its first bytes, never by its name. */
export type ArchiveFormat = 'zip' | 'tar' | 'tar.gz' | 'tar.bz2' | 'tar.xz';

/** One thing wrong (or odd) with an archive. `text` is a sentence a depositor can act on; the archive's name is added by the caller. */
export type ArchiveFault = { readonly code: string; readonly text: string };

/** What one reading of an archive from its first to its last byte found. */
export type Inspection =
  | {
      readonly outcome: 'accepted';
      readonly format: ArchiveFormat;
      /** Number of files and links. */
      readonly files: number;
      /** Sum of the lengths of the files, unpacked. */
      readonly bytes: number;
      /** At most 20; the last one counts the rest. */
      readonly warnings: readonly ArchiveFault[];
      /** The members as canonical lines, see `manifest.ts`: the same bytes for the same archive, always. */
      readonly listing: Uint8Array;
    }
  | {
      readonly outcome: 'refused';
      readonly format: ArchiveFormat | null;
      /** At least one, at most 20. */
      readonly faults: readonly ArchiveFault[];
    };

/** The tree of a deposit: its archives' listings overlaid in upload order. */
export type Overlay =
  | {
      readonly outcome: 'accepted';
      /** SHA-1 of the root tree, 40 hex digits: the `dir` identifier. */
      readonly directory: string;
      readonly files: number;
      readonly bytes: number;
      readonly manifest: Uint8Array;
    }
  | { readonly outcome: 'refused'; readonly faults: readonly ArchiveFault[] };

export type ArchiveLimits = {
  /** Unpacked bytes of one archive. */
  readonly unpackedBytes: number;
  /** Unpacked : packed, judged once more than `ratioFloor` bytes are unpacked. */
  readonly ratio: number;
  readonly ratioFloor: number;
  readonly members: number;
  /** Bytes of a member's whole path, of one segment of it, and number of the folders in it. */
  readonly pathBytes: number;
  readonly nameBytes: number;
  readonly depth: number;
  readonly linkTargetBytes: number;
  /** Whether a tar is refused in which a hard link's target comes again after the link. Older releases accepted it. */
  readonly rejectReplacedTargets: boolean;
  /** Milliseconds for one archive: a base, and bytes per millisecond granted on top of it for its packed size. */
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
  rejectReplacedTargets: true,
  wallTime: 120_000,
  wallBytesPerMs: 4096,
};

/** Reads archives off the main thread. */
export interface ArchiveReader extends AsyncDisposable {
  /**
   * Reads the archive to its end: structure, checksums, limits, hashes. Never rejects for what the archive
   * holds; a worker that dies or runs out of time is a `refused`, too.
   * When several wait, owners get their turns one after the other.
   * @throws {ObjectCorrupt} the bytes are not those of `sha256`: the store is at fault, not the archive.
   */
  inspect(source: LocalSource, sha256: string, limits: ArchiveLimits, owner?: string): Promise<Inspection>;

  /**
   * Overlays listings in upload order; a later leaf replaces an earlier one of the same path. The listings are handed
   * over: their bytes are gone afterwards.
   */
  overlay(listings: readonly OverlayListing[], owner?: string): Promise<Overlay>;
}
