import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { sanitizeName } from '../../src/archives/members/sanitize-name.ts';
import { Fault, reasonOf, UsageFault } from '../faults.ts';
import { ignoreErrors } from '../state-files.ts';
import { globTest } from './glob.ts';

/** A member of a folder. Paths and targets are latin1 strings of their raw bytes, relative to the folder. */
export type FolderMember =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

// Most names are ASCII: there, strings are faster than buffers and denote the same bytes.
const isAscii = /^[\0-\x7f]*$/;

/** Returns the path of a member on disk, byte for byte. */
export function onDisk(folder: string, member: string): string | Buffer {
  if (isAscii.test(member)) return `${folder}${path.sep}${member}`;
  return Buffer.concat([Buffer.from(folder), Buffer.from(path.sep), Buffer.from(member, 'latin1')]);
}

/**
 * Returns the members of a folder, sorted by the bytes of their paths. Omits what is excluded and everything below it.
 * Links are never followed.
 * @throws {Fault} a member is neither file nor folder nor link, or cannot be read.
 */
export function folderMembers(folder: string, excluded: (path: string) => boolean): FolderMember[] {
  const members: FolderMember[] = [];
  const visit = (directory: string): void => {
    for (const { name, kind } of entriesIn(folder, directory)) {
      const member = directory === '' ? name : `${directory}/${name}`;
      if (excluded(member)) continue;
      members.push(memberAt(folder, member, kind));
      if (kind === 'directory') visit(member);
    }
  };
  visit('');
  return members.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Returns a predicate for paths to exclude: those that match a pattern, and always `.git`.
 * A pattern with a slash is matched with the whole path, one without a slash with each name. Wildcards also match a
 * leading dot.
 * @throws {UsageFault} a pattern is malformed.
 */
export function exclusion(
  patterns: readonly string[],
  platform: string = process.platform,
): (path: string) => boolean {
  const tests = patterns.map((pattern) => {
    const written = withSlashes(pattern, platform);
    return { matches: testOf(written), isOfPath: written.replace(/\/$/, '').includes('/') };
  });
  return (member) => {
    const text = Buffer.from(member, 'latin1').toString('utf8');
    const name = text.slice(text.lastIndexOf('/') + 1);
    return name === '.git' || tests.some(({ matches, isOfPath }) => matches(isOfPath ? text : name));
  };
}

/** Returns a path of this platform as git has it. On Windows a backslash cannot be part of a name. */
export function withSlashes(written: string, platform: string = process.platform): string {
  return platform === 'win32' ? written.replaceAll('\\', '/') : written;
}

function testOf(pattern: string): (path: string) => boolean {
  try {
    return globTest(pattern.replace(/^\.?\//, '').replace(/\/$/, ''));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UsageFault(
      `--exclude ${pattern} is not a pattern: a range in its brackets ends before it begins.`,
    );
  }
}

type Kind = FolderMember['kind'] | 'a socket' | 'a FIFO' | 'a device';
/** The name as a latin1 string. */
type Entry = { readonly name: string; readonly kind: Kind };

function entriesIn(folder: string, directory: string): Entry[] {
  const place = onDisk(folder, directory);
  try {
    return (
      asciiEntries(place) ??
      readdirSync(place, { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
        name: entry.name.toString('latin1'),
        kind: kindOf(entry),
      }))
    );
  } catch (error) {
    throw unreadable(folder, directory, error);
  }
}

/**
 * Reads the entries as text; `undefined` if a name is not ASCII, or on an error, which reading them as bytes repeats.
 */
function asciiEntries(place: string | Buffer): Entry[] | undefined {
  const entries = ignoreErrors(() => readdirSync(place, { withFileTypes: true }));
  if (!entries?.every(({ name }) => isAscii.test(name))) return undefined;
  return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
}

function memberAt(folder: string, member: string, kind: Kind): FolderMember {
  const place = onDisk(folder, member);
  try {
    if (kind === 'directory') return { kind, path: member };
    if (kind === 'link')
      return { kind, path: member, target: withSlashes(readlinkSync(place, 'buffer').toString('latin1')) };
    const { size, mode } = lstatSync(place);
    if (kind === 'file') return { kind, path: member, size, executable: (mode & 0o100) !== 0 };
  } catch (error) {
    throw unreadable(folder, member, error);
  }
  throw new Fault(
    `${printablePath(folder, member)} is ${kind}, which cannot be deposited: remove it, or leave it out with --exclude.`,
  );
}

function kindOf(entry: Dirent | Dirent<Buffer>): Kind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isSocket()) return 'a socket';
  if (entry.isFIFO()) return 'a FIFO';
  return 'a device';
}

export function printablePath(folder: string, member: string): string {
  return path.join(folder, sanitizeName(member));
}

export function unreadable(folder: string, member: string, error: unknown): Fault {
  return new Fault(
    `${printablePath(folder, member)} cannot be read: ${reasonOf(error)}. Correct that, or leave it out with --exclude.`,
  );
}
