import type { MessagePort } from 'node:worker_threads';
import type { LocalSource } from '../../archive-store/archive-store.ts';
import type { WantedMember } from '../member-output.ts';

/** What of which archive is to be read. */
export type MemberOrder = { readonly archive: LocalSource } & (
  | { readonly kind: 'content'; readonly member: WantedMember }
  /** What a directory of a deposit has of the archive, as members of a tar without its end. */
  | {
      readonly kind: 'tree';
      /** SHA-256 of the archive, as the manifest names it. */
      readonly sha256: string;
      readonly manifest: { readonly source: LocalSource; readonly sha256: string };
      /** Of the directory; empty for the root. */
      readonly path: string;
      /** With the directories themselves, which are of no archive. */
      readonly directories: boolean;
    }
);

/** What goes to a worker thread: the bytes come through the port, each piece for a message that asks for it. */
export type MemberJob = MemberOrder & { readonly port: MessagePort };

/** What comes back when the job is over. */
export type MemberReply =
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly error: { readonly message: string; readonly code: string } };
