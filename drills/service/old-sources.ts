import { execFile } from 'node:child_process';
import { realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');

/**
 * Unpacks the sources of a commit into a folder, with the packages of this tree, and resolves to the program of its
 * service; to `undefined` if this clone has no such commit.
 */
export async function unpackedMain(commit: string, folder: string): Promise<string | undefined> {
  try {
    await run('git', ['-C', ROOT, 'cat-file', '-e', `${commit}^{commit}`]);
  } catch {
    return undefined;
  }
  const archive = path.join(folder, 'sources.tar');
  await run('git', ['-C', ROOT, 'archive', '--output', archive, commit]);
  await run('tar', ['-x', '-f', archive, '-C', folder]);
  await symlink(await realpath(path.join(ROOT, 'node_modules')), path.join(folder, 'node_modules'));
  return path.join(folder, 'src', 'main.ts');
}
