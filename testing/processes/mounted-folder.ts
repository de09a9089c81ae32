import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { temporaryFolder } from './temporary-folder.ts';

const run = promisify(execFile);

/**
 * Resolves to a folder on a file system of its own, with the given size such as `1m`; to `undefined` where this user may
 * not mount one.
 */
export async function mountedFolder(t: ExecutionContext, size: string): Promise<string | undefined> {
  const folder = await temporaryFolder(t);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).then(
    () => true,
    () => false,
  );
  if (!mounted) return undefined;
  t.teardown(() => run('umount', ['--lazy', folder]));
  return folder;
}

/** Makes a mounted folder refuse writes. */
export async function makeReadOnly(folder: string): Promise<void> {
  await run('mount', ['-o', 'remount,ro', folder]);
}
