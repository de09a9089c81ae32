import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { printableName } from '../../src/archives/printable-name.ts';
import { Fault, reasonOf } from '../faults.ts';

/** Something in a folder. Paths and targets are latin1 strings of their raw bytes, relative to the folder. */
export type FolderMember =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** Where a member is on the disk, byte for byte. */
export function onDisk(folder: string, member: string): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from(path.sep), Buffer.from(member, 'latin1')]);
}

/**
 * Everything in a folder in the order of the bytes of its paths, whatever the order on the disk: what is excluded,
 * and all below it, aside. Links are never followed.
 * @throws {Fault} something is neither file nor folder nor link, or cannot be read.
 */
export function folderMembers(folder: string, excluded: (path: string) => boolean): FolderMember[] {
  const members: FolderMember[] = [];
  const visit = (directory: string): void => {
    for (const entry of entriesIn(folder, directory)) {
      const name = entry.name.toString('latin1');
      const member = directory === '' ? name : `${directory}/${name}`;
      if (excluded(member)) continue;
      members.push(memberAt(folder, member, entry));
      if (entry.isDirectory()) visit(member);
    }
  };
  visit('');
  return members.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Tells what the patterns name: `.git` in any case. A pattern with a slash is matched with the whole path, one
 * without a slash with each name.
 */
export function exclusion(patterns: readonly string[]): (path: string) => boolean {
  return (member) => {
    const text = Buffer.from(member, 'latin1').toString('utf8');
    const name = text.slice(text.lastIndexOf('/') + 1);
    if (name === '.git') return true;
    return patterns.some((pattern) => {
      const whole = pattern.replace(/^\.?\//, '').replace(/\/$/, '');
      return path.posix.matchesGlob(pattern.replace(/\/$/, '').includes('/') ? text : name, whole);
    });
  };
}

function entriesIn(folder: string, directory: string): Dirent<Buffer>[] {
  try {
    return readdirSync(onDisk(folder, directory), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    throw new Fault(`${shown(folder, directory)} cannot be read: ${reasonOf(error)}.`);
  }
}

function memberAt(folder: string, member: string, entry: Dirent<Buffer>): FolderMember {
  const place = onDisk(folder, member);
  try {
    if (entry.isDirectory()) return { kind: 'directory', path: member };
    if (entry.isSymbolicLink())
      return { kind: 'link', path: member, target: readlinkSync(place, 'buffer').toString('latin1') };
    const { size, mode } = lstatSync(place);
    if (entry.isFile()) return { kind: 'file', path: member, size, executable: (mode & 0o100) !== 0 };
  } catch (error) {
    throw new Fault(`${shown(folder, member)} cannot be read: ${reasonOf(error)}.`);
  }
  throw new Fault(
    `${shown(folder, member)} is ${kindOf(entry)}, which cannot be deposited: remove it, or leave it out with --exclude.`,
  );
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSocket()) return 'a socket';
  if (entry.isFIFO()) return 'a FIFO';
  return 'a device';
}

export function shown(folder: string, member: string): string {
  return path.join(folder, printableName(member));
}
