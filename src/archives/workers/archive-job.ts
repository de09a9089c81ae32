import type { MessagePort } from 'node:worker_threads';
import type { LocalSource } from '../../object-store/object-store.ts';
import type { ArchiveLimits, OverlayListing } from '../inspection.ts';
import type { WantedMember } from '../members/member-output.ts';

/** A check or a load: its result is the reply. */
export type CheckJob =
  | {
      readonly kind: 'inspect';
      readonly source: LocalSource;
      readonly sha256: string;
      readonly limits: ArchiveLimits;
    }
  | { readonly kind: 'overlay'; readonly listings: readonly OverlayListing[] };

/** A read of members from one archive. */
export type MemberOrder = { readonly archive: LocalSource } & (
  | { readonly kind: 'content'; readonly member: WantedMember }
  /** The members of a directory of a deposit that are in the archive, as a tar without its end. */
  | {
      readonly kind: 'tree';
      /** SHA-256 of the archive, as the manifest names it. */
      readonly sha256: string;
      readonly manifest: { readonly source: LocalSource; readonly sha256: string };
      /** Path of the directory; empty for the root. */
      readonly path: string;
      /** Whether to include the directories themselves, which belong to no archive. */
      readonly directories: boolean;
    }
);

/** A job for a worker thread. The bytes of members are sent through the port, one chunk per requesting message. */
export type ArchiveJob = CheckJob | (MemberOrder & { readonly port: MessagePort });

/** The reply to a job: its result, or an error, of which only these fields pass between threads. */
export type ArchiveReply =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string; readonly syscall?: string } };
