import { hash } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { clock } from '../src/tools/clock.ts';
import { createDirectory } from '../src/tools/files/make-directory.ts';
import { random } from '../src/tools/random.ts';

/** Runs work that the command can do without; returns `undefined` if it fails. */
export function ignoreErrors<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Returns a name for a file, made of what it is about. */
export function nameFor(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values));
}

/** Makes a folder of state that only this user can read, and removes what is older in it. */
export function openStateFolder(folder: string, maxAgeMs: number): void {
  createDirectory(folder);
  removeOlder(folder, maxAgeMs);
}

/** Removes what is older in a folder, of all files and folders in it or of those that `isOwn` selects. */
export function removeOlder(
  folder: string,
  maxAgeMs: number,
  isOwn: (file: string) => boolean = () => true,
): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (isOwn(file) && ageOf(file) > maxAgeMs) removeFile(file);
  }
}

/**
 * Replaces a file at once, readable for this user alone: whatever happens, it has its old content or the new one. A
 * function writes the content to the file that it gets.
 */
export function replaceFile(file: string, content: string | ((target: string) => void)): void {
  const incoming = `${file}.${random.uuid()}`;
  try {
    if (typeof content === 'string') writeFileSync(incoming, content, { mode: 0o600, flag: 'wx' });
    else content(incoming);
    renameSync(incoming, file);
  } finally {
    removeFile(incoming);
  }
}

/** Returns the milliseconds since the last update; 0 for a missing file. */
export function ageOf(file: string): number {
  return clock.now() - (ignoreErrors(() => statSync(file).mtimeMs) ?? clock.now());
}

export function removeFile(file: string): void {
  ignoreErrors(() => rmSync(file, { force: true, recursive: true }));
}

/** Milliseconds without an update of a file until it counts as abandoned, also if its process cannot be checked. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** Names this process in files and in their names. */
export const THIS_PROCESS = `${process.pid} ${hostname()}`;

/** Whether the process that updates a file still does so; it may run on another machine with the same folder. */
export function isInUse(file: string, owner: string): boolean {
  if (ageOf(file) > ABANDONED_AFTER_MS) return false;
  const [pid, host] = owner.split(' ');
  return host !== hostname() || isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
