import type { LocalSource } from '../../object-store/object-store.ts';
import type { ArchiveLimits, Overlay, OverlayListing } from '../inspection.ts';
import type { Reading } from '../reading.ts';

/** A job for a worker thread. */
export type ArchiveJob =
  | {
      readonly kind: 'inspect';
      readonly source: LocalSource;
      readonly sha256: string;
      readonly limits: ArchiveLimits;
    }
  | { readonly kind: 'overlay'; readonly listings: readonly OverlayListing[] };

/** The reply to a job. Any failure other than of the file system crashes the worker instead. */
export type ArchiveReply =
  | { readonly kind: 'inspected'; readonly reading: Reading }
  | { readonly kind: 'overlaid'; readonly overlay: Overlay }
  | { readonly kind: 'failed'; readonly error: SystemError };

/** An error as it is sent between threads, which would lose its own fields. */
export type SystemError = { readonly message: string; readonly code: string; readonly syscall: string };
