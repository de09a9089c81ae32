import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';

/** A folder that is gone after the test, also if something is still writing to it. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
