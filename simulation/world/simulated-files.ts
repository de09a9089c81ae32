/** Paths below this folder are served by the simulation. */
export const SIMULATED_FOLDER = '/simulated';
/** The file with the key that seals the secrets of webhooks. */
export const KEY_FILE = `${SIMULATED_FOLDER}/webhook.key`;

const KEY_TEXT = `${Buffer.alloc(32, 7).toString('base64')}\n`;

export function isSimulated(file: unknown): file is string {
  return typeof file === 'string' && file.startsWith(SIMULATED_FOLDER);
}

/** Resolves to a handle that accepts everything: bodies of the simulation stay in memory, so nothing is read from files. */
export async function openSimulatedFile() {
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
export async function readSimulatedFile(file: string): Promise<string> {
  if (file === KEY_FILE) return KEY_TEXT;
  throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' });
}
