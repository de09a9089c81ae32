import type { MessagePort } from 'node:worker_threads';
import type { LocalSource } from '../../object-store/object-store.ts';
import type { WantedMember } from '../members/member-output.ts';

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

/** A job for a worker thread. The bytes are sent through the port, one chunk per requesting message. */
export type MemberJob = MemberOrder & { readonly port: MessagePort };

/** The reply when the job has ended. */
export type MemberReply =
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly error: { readonly message: string; readonly code: string } };
