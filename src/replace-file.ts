import path from 'node:path';
import { syncFolder } from './durable-folders.ts';
import { files } from './tools/files.ts';

/** The file holds `text` or, after a crash in between, what it held before; `durable`: after a power cut, too. */
export async function replaceFile(file: string, text: string, { durable = false } = {}): Promise<void> {
  const incoming = `${file}.new`;
  try {
    await files.writeFile(incoming, text, { flush: durable });
    await files.rename(incoming, file);
  } catch (error) {
    await files.rm(incoming, { force: true }).catch(() => undefined);
    throw error;
  }
  if (durable) await syncFolder(path.dirname(file));
}
