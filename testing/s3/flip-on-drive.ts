import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Flips one bit of an object on a drive of MinIO, always the same one: a second call restores the object. The bytes of
 * an object are in the file `part.1`, small ones in `xl.meta`.
 */
export async function flipOnDrive(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  const name = files.find((file) => path.basename(file) === 'part.1') ?? 'xl.meta';
  await using file = await open(path.join(folder, name), 'r+');
  const at = Math.floor((await file.stat()).size / 2);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at);
}
