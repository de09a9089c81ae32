import path from 'node:path';
import { folderIdentifier } from '../../client/archives/folder-identifier.ts';
import { folderMembers } from '../../client/archives/folder-members.ts';
import { CpuRates } from '../frame/cpu-rates.ts';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { ended } from '../inputs/ended.ts';
import { byCpu } from './g09-archives.ts';

/**
 * A folder on the disk becomes its directory identifier with the parts that client and service are made of. Git is
 * given the list of the files and computes their content identifiers only.
 */
export const identifyFolder: Goal = {
  id: 'G11',
  what: 'unpacked folder: identifier',
  async measure(bench) {
    const tree = await bench.inputs.tree();
    const rates = new CpuRates(tree.bytes / 1e6);
    const paths = folderMembers(tree.folder, () => false).filter(({ kind }) => kind === 'file');
    const input = paths.map((member) => `${path.join(tree.folder, member.path)}\n`).join('');
    const found = await interleave(bench, 'G11', {
      service: rates.of('service', () => identifierOf(tree.folder)),
      git: rates.of('git', () => ended('git', ['hash-object', '--no-filters', '--stdin-paths'], { input })),
    });
    return [
      {
        what: 'beside git',
        unit: 'MB/s',
        ours: { name: 'folder walk, ids and tree', values: found.service },
        reference: { name: 'git hash-object --stdin-paths', values: found.git },
        wanted: atLeast(1),
      },
      byCpu(rates, bench.pairs, 'git', 'git hash-object'),
    ];
  },
};

function identifierOf(folder: string): string {
  return folderIdentifier(
    folder,
    folderMembers(folder, () => false),
  );
}
