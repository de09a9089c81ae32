import { compressedTars } from './compressed-tars.ts';
import type { ArchiveCase } from './corpus-case.ts';
import { noArchives } from './no-archives.ts';
import { tarMembers } from './tar-members.ts';
import { tarStructures } from './tar-structures.ts';
import { zipEntries } from './zip-entries.ts';
import { zipNames } from './zip-names.ts';
import { zipStructures } from './zip-structures.ts';

export const everyArchive: readonly ArchiveCase[] = [
  ...zipStructures,
  ...zipEntries,
  ...zipNames,
  ...tarStructures,
  ...tarMembers,
  ...compressedTars,
  ...noArchives,
];
