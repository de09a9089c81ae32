import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';

/** Resolves to a folder that is removed after the test, even if it is still being written to. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
