import { gitObjectId } from './git-object.ts';

/**
 * A branch of a snapshot. Names, and the targets of aliases, are latin1 strings of their raw bytes, as in directories.
 */
export type Branch =
  | {
      readonly name: string;
      readonly targetType: 'content' | 'directory' | 'revision' | 'release' | 'snapshot';
      /** 40 hex digits. */
      readonly target: string;
    }
  | { readonly name: string; readonly targetType: 'alias'; readonly target: string }
  | { readonly name: string; readonly targetType: 'dangling' };

export function snapshotId(branches: readonly Branch[]): string {
  return gitObjectId('snapshot', snapshotBody(branches));
}

export function snapshotBody(branches: readonly Branch[]): Buffer {
  const sorted = [...branches].sort((a, b) => (a.name < b.name ? -1 : 1));
  return Buffer.concat(sorted.map(branchBytes));
}

function branchBytes(branch: Branch): Buffer {
  const target = targetBytes(branch);
  const head = `${branch.targetType} ${branch.name}\0${target.length}:`;
  return Buffer.concat([Buffer.from(head, 'latin1'), target]);
}

function targetBytes(branch: Branch): Buffer {
  if (branch.targetType === 'dangling') return Buffer.alloc(0);
  return Buffer.from(branch.target, branch.targetType === 'alias' ? 'latin1' : 'hex');
}
