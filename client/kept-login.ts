import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { createDirectory } from '../src/tools/files/make-directory.ts';
import { Fault, reasonOf, UsageFault } from './faults.ts';
import { replaceFile } from './state-files.ts';

/** The login that `deposit login` stores. */
export type KeptLogin = { readonly server: string; readonly user: string; readonly password: string };

/**
 * Returns the stored login; `undefined` without one. @throws {UsageFault} the file is not from `deposit login`, or not
 * private.
 */
export function readKeptLogin(folder: string): KeptLogin | undefined {
  const file = loginFile(folder);
  const content = contentOf(file);
  if (content === undefined) return undefined;
  assertPrivate(file);
  try {
    const { server, user, password } = JSON.parse(content) as Record<string, unknown>;
    if (typeof server === 'string' && typeof user === 'string' && typeof password === 'string')
      return { server, user, password };
  } catch {
    // reported below
  }
  throw new UsageFault(`${file} is not a saved login: run deposit login again.`);
}

/** Stores the login atomically in a file that only this user can read. Returns the path of the file. */
export function keepLogin({ server, user, password }: KeptLogin, folder: string): string {
  const file = loginFile(folder);
  try {
    createDirectory(folder);
    replaceFile(file, `${JSON.stringify({ server, user, password }, null, 2)}\n`);
  } catch (error) {
    throw new Fault(`${file} cannot be written: ${reasonOf(error)}.`);
  }
  return file;
}

export function loginFile(folder: string): string {
  return path.join(folder, 'login.json');
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new UsageFault(`${file} cannot be read: ${reasonOf(error)}.`);
  }
}

function assertPrivate(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & 0o077) === 0) return;
  throw new UsageFault(`${file} contains a password, but other users can read it: run chmod 600 ${file}`);
}
