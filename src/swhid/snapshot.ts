import { gitObjectId } from './git-object.ts';

/** Returns the id of the snapshot whose only branch is `HEAD`, with this revision. */
export function snapshotId(revision: string): string {
  return gitObjectId('snapshot', snapshotBody(revision));
}

export function snapshotBody(revision: string): Buffer {
  const target = Buffer.from(revision, 'hex');
  return Buffer.concat([Buffer.from(`revision HEAD\0${target.length}:`), target]);
}
