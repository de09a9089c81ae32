import { GitObjectHash, gitObjectId, gitObjectIdOf } from './git-object.ts';

/** Id of a file's bytes, or of a symbolic link's target. */
export function contentId(bytes: Uint8Array): string {
  return gitObjectId('blob', bytes);
}

/** Id of a file that `read` reads, see `gitObjectIdOf`. */
export function contentIdOf(length: number, read: (room: Buffer) => number): string | undefined {
  return gitObjectIdOf('blob', length, read);
}

/** Hash of a file that is read in pieces and whose length is known before. */
export function contentHash(length: number): GitObjectHash {
  return new GitObjectHash('blob', length);
}
