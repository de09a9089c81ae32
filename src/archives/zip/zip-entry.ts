import type { FaultCode } from '../faults.ts';
import { type Member, type MemberCollector, unreadMember } from '../member-collector.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { DEFLATED, STORED } from './zip-data.ts';
import type { ZipEntry } from './zip-directory.ts';
import { zipName } from './zip-name.ts';

/** The role of an entry in the tree. A directory has no member, but its data must be read and be empty. */
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

/**
 * Validates an entry by its directory record, and adds it to the tree; returns `undefined` for an entry with a fault.
 */
export function placeEntry(entry: ZipEntry, contents: MemberCollector): PlacedEntry | undefined {
  const name = zipName(entry.rawName, entry.flags);
  const path = contents.pathOf(name ?? entry.rawName);
  const fault = faultOf(entry, name);
  if (fault)
    contents.faults.add(fault[0], `The member “${sanitizeName(name ?? entry.rawName)}” ${fault[1]}.`);
  if (path === undefined || name === undefined) return undefined;
  const isLink = typeOf(entry) === linkType;
  if (isLink && !contents.checkTargetLength(path, entry.unpacked)) return undefined;
  if (name.endsWith('/')) {
    if (contents.addDirectory(path) === 'replaced') addDuplicate(path, contents);
    return fault ? undefined : { kind: 'directory' };
  }
  const member = addFile(path, contents);
  return member && fault === undefined ? { kind: isLink ? 'link' : 'file', path, member } : undefined;
}

function faultOf(entry: ZipEntry, name: string | undefined): [FaultCode, string] | undefined {
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
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    return ['UNSUPPORTED', `uses the compression method ${entry.method}, which is unsupported`];
  }
  if (isDirectory ? entry.unpacked > 0 : type === directoryType) {
    return [
      'HEADER_MISMATCH',
      'is a directory by its name and a file by its header, or the reverse (mismatch)',
    ];
  }
}

// Like the unpacking of zips by the Software Heritage archive: modes are ignored, and a link is a plain file
// with the target's text.
function addFile(path: string, contents: MemberCollector): Member | undefined {
  const member = unreadMember('100644');
  const added = contents.addMember(path, member);
  if (added === 'replaced') addDuplicate(path, contents);
  return added === 'added' ? member : undefined;
}

function addDuplicate(path: string, contents: MemberCollector): void {
  contents.faults.add(
    'DUPLICATE',
    `The path “${sanitizeName(path)}” is the name of more than one entry (duplicate).`,
  );
}

function typeOf({ madeBy, attributes }: ZipEntry): number {
  return hostsWithUnixModes.has(madeBy >>> 8) ? (attributes >>> 16) & typeMask : 0;
}
