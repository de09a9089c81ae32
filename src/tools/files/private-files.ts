import { files } from '../files.ts';

/** Makes the files that this process creates readable only for its owner, and the named ones if they exist. */
export function keepPrivate(names: readonly string[]): void {
  process.umask(0o077);
  for (const name of names) {
    try {
      files.chmodSync(name, 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
