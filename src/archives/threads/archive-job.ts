import type { LocalSource } from '../../archive-store/archive-store.ts';
import type { ArchiveLimits, Overlay, OverlayListing } from '../inspection.ts';
import type { Reading } from '../reading.ts';

/** What goes to a worker thread. */
export type ArchiveJob =
  | {
      readonly kind: 'inspect';
      readonly source: LocalSource;
      readonly sha256: string;
      readonly limits: ArchiveLimits;
    }
  | { readonly kind: 'overlay'; readonly listings: readonly OverlayListing[] };

/** What comes back, unless the worker dies: any failure that is not of the file system does kill it. */
export type ArchiveReply =
  | { readonly kind: 'inspected'; readonly reading: Reading }
  | { readonly kind: 'overlaid'; readonly overlay: Overlay }
  | { readonly kind: 'failed'; readonly error: SystemError };

/** Errors lose their own fields between threads. */
export type SystemError = { readonly message: string; readonly code: string; readonly syscall: string };
