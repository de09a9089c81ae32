import path from 'node:path';
import { syncFolder } from './durable-folders.ts';
import { files } from './tools/files.ts';
import { random } from './tools/random.ts';

/** The text of a key's file; `undefined` when there is none. */
export async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    return await files.readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes the file, durable and for its owner's eyes only. It appears whole or not at all, and never replaces a key
 * that somebody else made at the same moment.
 */
export async function makeKeyFile(file: string, text: string | Buffer): Promise<void> {
  const folder = path.dirname(file);
  await files.mkdir(folder, { recursive: true, mode: 0o700 });
  const made = `${file}.${random.uuid()}`;
  try {
    await using handle = await files.open(made, 'wx', 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await files.link(made, file).catch(unlessThere);
  } finally {
    await files.rm(made, { force: true });
  }
  await syncFolder(folder);
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
