import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the file of a program on the path. */
export function installed(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}
