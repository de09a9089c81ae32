import type { MessagePort } from 'node:worker_threads';
import type { LocalSource } from '../../object-store/object-store.ts';
import type { ArchiveLimits, ArchiveListing } from '../archive-reader.ts';
import type { EntryQuery, ManifestSource, WantedMember } from '../tree/tree-entry.ts';
import type { Assistance, SentBatch } from './assistance.ts';

/** A check or a load: its result is the reply. */
export type CheckJob =
  | {
      readonly kind: 'inspect';
      readonly source: LocalSource;
      readonly sha256: string;
      readonly limits: ArchiveLimits;
      /** Other threads that read parts of a large archive. */
      readonly assistance?: Assistance | undefined;
    }
  | { readonly kind: 'merge'; readonly listings: readonly ArchiveListing[] };

/** A part of a check: its result is the reply. */
type BatchJob = { readonly kind: 'batch'; readonly batch: SentBatch };

/** A search for an entry in a manifest: its result is the reply. */
export type FindOrder = {
  readonly kind: 'find';
  readonly manifest: ManifestSource;
  readonly query: EntryQuery;
};

/** A read of bytes. */
export type ReadOrder =
  /** One member of an archive. */
  | { readonly kind: 'content'; readonly archive: LocalSource; readonly member: WantedMember }
  /** The bytes that are hashed for the id of a directory; their length is sent before them. */
  | {
      readonly kind: 'directory';
      readonly manifest: ManifestSource;
      readonly path: string;
      readonly id: string;
    }
  /** The members of a directory of a deposit that are in the archive, as a tar without its end. */
  | {
      readonly kind: 'tree';
      readonly archive: LocalSource;
      /** SHA-256 of the archive, as the manifest names it. */
      readonly sha256: string;
      readonly manifest: ManifestSource;
      /** Path of the directory; empty for the root. */
      readonly path: string;
      /** Whether to include the directories themselves, which belong to no archive. */
      readonly directories: boolean;
    };

/**
 * A job for a worker thread. The bytes that are read are sent through the port, one chunk per requesting message;
 * closing the port aborts the job.
 */
export type ArchiveJob = CheckJob | BatchJob | ((FindOrder | ReadOrder) & { readonly port: MessagePort });

/** The reply to a job: its result, or an error, of which only these fields pass between threads. */
export type ArchiveReply =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string; readonly syscall?: string } };
