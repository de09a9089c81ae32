import path from 'node:path';
import { files } from '../files.ts';
import { throwNaming } from './describe-fs-error.ts';
import { syncFolder } from './durable-directory.ts';

/**
 * Replaces the content of a file: after a crash it has the old or the new text; with `durable`, also after a power cut.
 */
export async function writeFileAtomic(file: string, text: string, { durable = false } = {}): Promise<void> {
  const incoming = `${file}.new`;
  try {
    await files.writeFile(incoming, text, { flush: durable }).catch(throwNaming(file));
    await files.rename(incoming, file);
  } catch (error) {
    await files.rm(incoming, { force: true }).catch(() => undefined);
    throw error;
  }
  if (durable) await syncFolder(path.dirname(file));
}
