import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const run = promisify(execFile);

/** Runs curl with the arguments of a line, after the credentials; what it prints. */
export type InstalledCurl = (line: string) => Promise<string>;

/** The curl of this machine; `undefined` where there is none. */
export async function installedCurl({ user, password }: Account): Promise<InstalledCurl | undefined> {
  const version = await run('curl', ['--version']).catch(() => undefined);
  if (!version) return undefined;
  const always = ['-q', '-s', '-S', '--fail', '-u', `${user}:${password}`];
  return async (line) => (await run('curl', [...always, ...wordsOf(line)])).stdout;
}

/** As a shell takes a line apart that has no quotes but single ones. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
