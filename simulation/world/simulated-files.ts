import { readFileSync } from 'node:fs';
import type { Files } from '../../src/tools/outside-world.ts';

/** Paths below this folder are served by the simulation. */
export const SIMULATED_FOLDER = '/simulated';
/** The file with the key that seals the secrets of webhooks. */
export const KEY_FILE = `${SIMULATED_FOLDER}/webhook.key`;

export const KEY_TEXT = `${Buffer.alloc(32, 7).toString('base64')}\n`;

const FUNCTIONS: Partial<Files> = {
  readFileSync, // of the sources: package.json
  mkdir: async () => undefined,
  rm: async () => undefined,
  open: openFile as unknown as Files['open'],
  readFile: readFile as unknown as Files['readFile'],
};

/** The files of a process. What is not there throws. */
export const SIMULATED_FILES = new Proxy(FUNCTIONS, {
  get: (functions, name) => {
    const found: unknown = Reflect.get(functions, name);
    if (found === undefined) throw new Error(`The simulation has no files.${String(name)}.`);
    return found;
  },
}) as Files;

/** Resolves to a handle that accepts everything: bodies of the simulation stay in memory, so nothing is read from files. */
async function openFile() {
  const done = async (): Promise<void> => undefined;
  return {
    writev: async (chunks: readonly Uint8Array[]) => ({
      bytesWritten: chunks.reduce((sum, { byteLength }) => sum + byteLength, 0),
    }),
    datasync: done,
    sync: done,
    close: done,
    [Symbol.asyncDispose]: done,
  };
}

/** Resolves to the text of {@link KEY_FILE}, the only file there is. */
async function readFile(file: string): Promise<string> {
  if (file === KEY_FILE) return KEY_TEXT;
  throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' });
}
