import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { NotMeasured } from '../frame/not-measured.ts';

/** Folder of the Python programs that run inside of the peer. */
export const PYTHON = path.join(import.meta.dirname, 'python');

const run = promisify(execFile);

/**
 * Resolves to the Python of a virtual environment that is named after the versions in it; installs it if it is missing.
 * @throws {NotMeasured} it cannot be installed here
 */
export async function installPeer(cache: string): Promise<string> {
  const list = path.join(PYTHON, 'requirements.txt');
  const version = createHash('sha256')
    .update(await readFile(list))
    .digest('hex')
    .slice(0, 16);
  const folder = path.join(cache, `peer-${version}`);
  const [python, complete] = [path.join(folder, 'bin', 'python'), path.join(folder, 'complete')];
  if (existsSync(complete)) return python;
  try {
    await run('python3', ['-m', 'venv', '--clear', folder]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', list]);
  } catch (error) {
    throw new NotMeasured(`no peer: ${(error as Error).message}`);
  }
  await writeFile(complete, '');
  return python;
}
