import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';

/**
 * Asserts that a text is the stored one in this folder. `-- --update-golden` after the command of AVA stores it
 * instead; the commit that changes a stored text explains the change.
 */
export async function assertGolden(t: ExecutionContext, name: string, text: string): Promise<void> {
  const file = path.join(import.meta.dirname, name);
  if (process.argv.includes('--update-golden')) await writeFile(file, text);
  const stored = await readFile(file, 'utf8');
  t.deepEqual(text.split('\n'), stored.split('\n'));
}
