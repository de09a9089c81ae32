import path from 'node:path';
import { folderIdentifier } from '../../client/archives/folder-identifier.ts';
import { folderMembers } from '../../client/archives/folder-members.ts';
import { comparedByClockAndCpu } from '../frame/by-clock-and-cpu.ts';
import { atLeast, type Goal } from '../frame/goal.ts';
import { ended } from '../inputs/ended.ts';

/**
 * Computes the directory identifier of a folder on the disk with the code that client and service share. Git is given
 * the list of the files and computes only their content identifiers.
 */
export const identifyFolder: Goal = {
  id: 'G11',
  what: 'unpacked folder: identifier',
  async measure(bench) {
    const tree = await bench.inputs.tree();
    const paths = folderMembers(tree.folder, () => false).filter(({ kind }) => kind === 'file');
    const input = paths.map((member) => `${path.join(tree.folder, member.path)}\n`).join('');
    return comparedByClockAndCpu(bench, {
      id: 'G11',
      what: 'git',
      megabytes: tree.bytes / 1e6,
      ours: { name: 'folder walk, ids and tree', work: () => identifierOf(tree.folder) },
      reference: {
        name: 'git hash-object --stdin-paths',
        work: () => ended('git', ['hash-object', '--no-filters', '--stdin-paths'], { input }),
      },
      wanted: atLeast(1),
    });
  },
};

function identifierOf(folder: string): string {
  return folderIdentifier(
    folder,
    folderMembers(folder, () => false),
  );
}
