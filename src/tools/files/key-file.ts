import path from 'node:path';
import { files } from '../files.ts';
import { random } from '../random.ts';
import { unlessMissing } from './access.ts';
import { throwNaming } from './describe-fs-error.ts';
import { syncFolder } from './durable-directory.ts';
import { makeDirectory } from './make-directory.ts';

/** Resolves to the text of a key file; `undefined` when the file does not exist. */
export async function readKeyFile(file: string): Promise<string | undefined> {
  return await files.readFile(file, 'utf8').catch(unlessMissing(undefined));
}

/**
 * Creates the file, durable and readable only for its owner. It appears as a whole or not at all, and never replaces a
 * key that another process created at the same time.
 */
export async function makeKeyFile(file: string, text: string | Buffer): Promise<void> {
  const folder = path.dirname(file);
  makeDirectory(folder);
  const made = `${file}.${random.uuid()}`;
  try {
    await using handle = await files.open(made, 'wx', 0o600);
    await handle.writeFile(text).catch(throwNaming(file));
    await handle.sync().catch(throwNaming(file));
    await files.link(made, file).catch(ignoreAlreadyExists);
  } finally {
    await files.rm(made, { force: true });
  }
  await syncFolder(folder);
}

function ignoreAlreadyExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
