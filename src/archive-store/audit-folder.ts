import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Where objects lie while they are audited: the data folder, or a temporary one for whoever may only read that or has none. */
export async function auditFolder(dataDir: string): Promise<AsyncDisposable & { readonly path: string }> {
  try {
    await access(dataDir, constants.W_OK);
    return { path: dataDir, [Symbol.asyncDispose]: () => Promise.resolve() };
  } catch {
    const made = await mkdtemp(path.join(tmpdir(), 'deposit-audit-'));
    return { path: made, [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }) };
  }
}
