import { whyNotWritable } from '../tools/files/access.ts';
import { files } from '../tools/files.ts';

/** Returns the folder in which SQLite creates its temporary files, by its own rule. */
export function temporaryFolder(): string {
  const { SQLITE_TMPDIR, TMPDIR } = process.env;
  const folders = [SQLITE_TMPDIR, TMPDIR, '/var/tmp', '/usr/tmp', '/tmp'];
  return folders.find((folder) => folder !== undefined && isWritable(folder)) ?? process.cwd();
}

function isWritable(folder: string): boolean {
  const isFolder = files.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder && !whyNotWritable(folder);
}
