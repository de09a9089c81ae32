import { type Contents, type Member, unreadMember } from '../contents.ts';
import type { FaultCode } from '../faults.ts';
import { printableName } from '../printable-name.ts';
import { deflated, stored } from './zip-data.ts';
import type { ZipEntry } from './zip-directory.ts';
import { zipName } from './zip-name.ts';

/** What an entry of the directory is in the tree. A directory has no member, yet data that is to be read and is to be nothing. */
export type PlacedEntry =
  | { readonly kind: 'directory' }
  | { readonly kind: 'file' | 'link'; readonly path: string; readonly member: Member };

const hostsWithUnixModes = new Set([3, 19]);
const typeMask = 0o170000;
const directoryType = 0o040000;
const fileType = 0o100000;
const linkType = 0o120000;

// Bits of plain, strong and directory encryption.
const encryptionFlags = 0x0001 | 0x0040 | 0x2000;

/** Judges an entry by what the directory says of it, and gives it its place; `undefined` for what is at fault. */
export function placeEntry(
  entry: ZipEntry,
  contents: Contents,
  linkTargetBytes: number,
): PlacedEntry | undefined {
  const name = zipName(entry.rawName, entry.flags);
  const path = contents.pathOf(name ?? entry.rawName);
  const fault = judge(entry, name);
  if (fault)
    contents.faults.add(fault[0], `The member “${printableName(name ?? entry.rawName)}” ${fault[1]}.`);
  if (path === undefined || name === undefined) return undefined;
  const isLink = typeOf(entry) === linkType;
  if (isLink && entry.unpacked > linkTargetBytes) return addLongLink(entry, path, contents, linkTargetBytes);
  if (name.endsWith('/')) {
    addDirectory(path, contents);
    return fault ? undefined : { kind: 'directory' };
  }
  const member = addFile(path, contents);
  return member && fault === undefined ? { kind: isLink ? 'link' : 'file', path, member } : undefined;
}

function judge(entry: ZipEntry, name: string | undefined): [FaultCode, string] | undefined {
  const type = typeOf(entry);
  const isDirectory = entry.rawName.endsWith('/');
  if (name === undefined) return ['BAD_NAME', 'has a name that is not the UTF-8 it is said to be'];
  if (entry.flags & encryptionFlags) return ['ENCRYPTED', 'is encrypted'];
  if (![0, fileType, linkType, directoryType].includes(type)) {
    return [
      'SPECIAL_FILE',
      'is a device or another special file; only regular files, directories and links are supported',
    ];
  }
  if (entry.method !== stored && entry.method !== deflated) {
    return ['UNSUPPORTED', `uses the compression method ${entry.method}, which is unsupported`];
  }
  if (isDirectory ? entry.unpacked > 0 : type === directoryType) {
    return [
      'HEADER_MISMATCH',
      'is a directory by its name and a file by its header, or the reverse (mismatch)',
    ];
  }
}

// As the Software Heritage archive unpacks zips: no mode counts, and a link is a plain file with the target's text.
function addFile(path: string, contents: Contents): Member | undefined {
  const member = unreadMember('100644');
  const added = contents.addMember(path, member);
  if (added === 'replaced') addDuplicate(path, contents);
  return added === 'added' ? member : undefined;
}

function addDirectory(path: string, contents: Contents): void {
  if (contents.addDirectory(path) === 'replaced') addDuplicate(path, contents);
}

function addDuplicate(path: string, contents: Contents): void {
  contents.faults.add(
    'DUPLICATE',
    `The path “${printableName(path)}” is the name of more than one entry (duplicate).`,
  );
}

function addLongLink({ unpacked }: ZipEntry, path: string, contents: Contents, limit: number): undefined {
  const text = `The link “${printableName(path)}” has a target that is too long: ${unpacked} bytes; the limit is ${limit}.`;
  contents.faults.add('BAD_LINK', text);
}

function typeOf({ madeBy, attributes }: ZipEntry): number {
  return hostsWithUnixModes.has(madeBy >>> 8) ? (attributes >>> 16) & typeMask : 0;
}
