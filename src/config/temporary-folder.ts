import { isNotAccessible } from '../tools/files/access.ts';
import { files } from '../tools/files.ts';

/** Returns the folder in which SQLite creates its temporary files, by its own rule. */
export function temporaryFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folders = [env['SQLITE_TMPDIR'], env['TMPDIR'], '/var/tmp', '/usr/tmp', '/tmp'];
  return folders.find((folder) => folder !== undefined && isWritable(folder)) ?? process.cwd();
}

function isWritable(folder: string): boolean {
  const found = files.statSync(folder, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && !isNotAccessible(folder);
}
