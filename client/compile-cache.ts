import module from 'node:module';
import path from 'node:path';
import { makePrivateFolder } from '../src/tools/files/private-files.ts';
import { readEnvironment } from './environment.ts';

/**
 * Speeds up later starts. What is cached runs as this user, so no other user may write to the folder: Node's default is
 * in the shared temporary folder.
 */
export function cacheCompiledCode(): void {
  const { enableCompileCache } = module as Partial<typeof module>; // Node 20 has none
  const folder = path.join(readEnvironment().cacheFolder, 'compile-cache');
  if (enableCompileCache && makePrivateFolder(folder)) enableCompileCache(folder);
}
