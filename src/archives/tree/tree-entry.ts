import type { LocalSource } from '../../object-store/object-store.ts';
import type { directoryMode, LeafMode } from '../../swhid/directory.ts';

export type ListedLeaf = {
  readonly mode: LeafMode;
  /** Content id, 40 hex digits. */
  readonly id: string;
  readonly length: number;
  readonly sha256: string;
};

/** An entry of a manifest. Paths are latin1 strings of raw bytes here and below. */
export type TreeEntry =
  | { readonly path: string; readonly mode: typeof directoryMode; readonly id: string }
  | ({
      readonly path: string;
      /** SHA-256 of the archive it came from. */
      readonly archive: string;
    } & ListedLeaf);

/** A file or link to read, whose bytes must have this id and this SHA-256. */
export type WantedMember = { readonly path: string } & ListedLeaf;

/** A manifest in a file or in memory, and the SHA-256 that its bytes must have. */
export type ManifestSource = { readonly source: LocalSource; readonly sha256: string };

export type EntryQuery = {
  readonly kind: 'directory' | 'leaf';
  /** 40 hex digits. */
  readonly id: string;
  /** Without a slash at either end; any path if omitted. */
  readonly path?: string;
};
