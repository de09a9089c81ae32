import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Fault, reasonOf, UsageFault } from './faults.ts';

/** What `deposit login` keeps. */
export type Configuration = { readonly server: string; readonly user: string; readonly password: string };

export function configurationFile(env: NodeJS.ProcessEnv): string {
  return path.join(configurationFolder(env), 'login.json');
}

/** `undefined` when nothing was kept. @throws {UsageFault} the file is not what `deposit login` wrote, or not private. */
export function readConfiguration(env: NodeJS.ProcessEnv): Configuration | undefined {
  const file = configurationFile(env);
  const content = contentOf(file);
  if (content === undefined) return undefined;
  assertPrivate(file);
  try {
    const { server, user, password } = JSON.parse(content) as Record<string, unknown>;
    if (typeof server === 'string' && typeof user === 'string' && typeof password === 'string')
      return { server, user, password };
  } catch {
    // told below
  }
  throw new UsageFault(`${file} is not what deposit login writes: run deposit login again.`);
}

/** Readable for this user only, and whole or not at all. */
export function writeConfiguration(configuration: Configuration, env: NodeJS.ProcessEnv): string {
  const file = configurationFile(env);
  const incoming = `${file}.${randomUUID()}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(incoming, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(incoming, file);
  } catch (error) {
    rmSync(incoming, { force: true });
    throw new Fault(`${file} cannot be written: ${reasonOf(error)}.`);
  }
  return file;
}

export function configurationFolder(env: NodeJS.ProcessEnv): string {
  const windows = process.platform === 'win32' ? env['APPDATA'] : undefined;
  const base = windows ?? (env['XDG_CONFIG_HOME'] || path.join(env['HOME'] || homedir(), '.config'));
  return path.join(base, 'sword-deposit');
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
  throw new UsageFault(`${file} holds a password, but others can read it: run chmod 600 on it.`);
}
