import { GitObjectHash, gitObjectId, gitObjectIdOf } from './git-object.ts';

/** Returns the id of a file's bytes, or of a symbolic link's target. */
export function contentId(bytes: Uint8Array): string {
  return gitObjectId('blob', bytes);
}

/** Returns the id of a file that `read` reads, see `gitObjectIdOf`. */
export function contentIdOf(length: number, read: (room: Buffer) => number): string | undefined {
  return gitObjectIdOf('blob', length, read);
}

/** Returns an incremental hash of a file whose length is known beforehand. */
export function contentHash(length: number): GitObjectHash {
  return new GitObjectHash('blob', length);
}
