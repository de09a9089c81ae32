import { execFile } from 'node:child_process';
import path from 'node:path';

const VERIFY = path.join(import.meta.dirname, '..', 'scripts', 'verify.ts');

/** Resolves to what `verify --all` finds in the data folder of a service, a sentence each; empty if all was proven. */
export async function everythingVerified(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const settings = { ...process.env, ...env, DEPOSIT_DATA_DIR: dataDir };
  execFile(process.execPath, [VERIFY, '--all'], { env: settings }, (error, stdout, stderr) =>
    resolve(error ? [`verify --all ended with ${error.code}: ${stdout.slice(0, 2000)}${stderr}`] : []),
  );
  return promise;
}
