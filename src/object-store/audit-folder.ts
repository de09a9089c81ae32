import { tmpdir } from 'node:os';
import path from 'node:path';
import { files } from '../tools/files.ts';

/**
 * Resolves to the folder of objects that an audit opens: the data folder, or a temporary one if that is
 * missing or not writable.
 */
export async function auditFolder(dataDir: string): Promise<AsyncDisposable & { readonly path: string }> {
  try {
    await files.access(dataDir, files.constants.W_OK);
    return { path: dataDir, [Symbol.asyncDispose]: () => Promise.resolve() };
  } catch {
    const made = await files.mkdtemp(path.join(tmpdir(), 'deposit-audit-'));
    return { path: made, [Symbol.asyncDispose]: () => files.rm(made, { recursive: true, force: true }) };
  }
}
