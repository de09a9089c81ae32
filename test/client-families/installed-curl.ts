import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const run = promisify(execFile);

/** Runs curl with the arguments of a line, after the credentials; resolves to its output. */
export type InstalledCurl = (line: string) => Promise<string>;

/** Resolves to the curl of this machine; `undefined` if it is not installed. */
export async function installedCurl({ user, password }: Account): Promise<InstalledCurl | undefined> {
  const version = await run('curl', ['--version']).catch(() => undefined);
  if (!version) return undefined;
  const always = ['-q', '-s', '-S', '--fail', '-u', `${user}:${password}`];
  return async (line) => (await run('curl', [...always, ...wordsOf(line)])).stdout;
}

/** Splits a line like a shell, with single quotes only. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
