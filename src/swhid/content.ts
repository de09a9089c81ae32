import { GitObjectHash, gitObjectId } from './git-object.ts';

/** Id of a file's bytes, or of a symbolic link's target. */
export function contentId(bytes: Uint8Array): string {
  return gitObjectId('blob', bytes);
}

/** Hash of a file that is read in pieces and whose length is known before. */
export function contentHash(length: number): GitObjectHash {
  return new GitObjectHash('blob', length);
}
