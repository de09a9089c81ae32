import { type Contents, fillMember, type Member, unreadMember } from '../contents.ts';
import { corrupt } from '../faults.ts';
import { hashMember, MemberHash } from '../member-hash.ts';
import { printableName } from '../printable-name.ts';
import { LinkedTargets } from './linked-targets.ts';
import type { TarSink } from './tar.ts';
import type { TarHeader } from './tar-header.ts';

// Larger files are hashed piece by piece instead of being put together.
const largeMember = 1024 ** 2;
const ownerExecutes = 0o100;

type Kind = 'file' | 'directory' | 'link' | 'hard link';
const kinds: { [type: string]: Kind | undefined } = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hard link',
  '2': 'link',
  '5': 'directory',
};

/** Puts the members of a tar into the contents and hashes their data. */
export class TarMembers implements TarSink {
  readonly #contents: Contents;
  readonly #linkedTargets: LinkedTargets;
  #reading: MemberData | undefined;

  constructor(contents: Contents) {
    this.#contents = contents;
    this.#linkedTargets = new LinkedTargets(contents);
  }

  extension(size: number): void {
    this.#contents.countExtension(size);
  }

  member(header: TarHeader): void {
    const kind = kindOf(header);
    this.#contents.countMember(header.name);
    this.#contents.countBytes(header.size);
    // A global header gives one long target to every link.
    if (kind === 'link' || kind === 'hard link') this.#contents.countPathBytes(header.linkName.length);
    const path = this.#contents.pathOf(header.name);
    if (kind !== 'file' && header.size > 0) throw sizedNonFile(header);
    if (kind === undefined) return this.#addSpecial(header);
    if (path === undefined) return;
    if (kind === 'file') this.#addFile(path, header);
    else if (kind === 'directory') this.#contents.addDirectory(path);
    else if (kind === 'link') this.#addLink(path, header);
    else this.#addHardLink(path, header);
  }

  data(piece: Buffer): void {
    this.#reading?.push(piece);
  }

  end(): void {
    this.#reading?.finish();
    this.#reading = undefined;
  }

  #addFile(path: string, { mode, size }: TarHeader): void {
    const member = unreadMember(mode & ownerExecutes ? '100755' : '100644');
    if (this.#add(path, member)) this.#reading = new MemberData(member, size);
  }

  #addLink(path: string, { linkName }: TarHeader): void {
    const member = unreadMember('120000');
    fillMember(member, hashMember(Buffer.from(linkName, 'latin1')));
    if (this.#add(path, member)) this.#contents.checkLink(path, linkName);
  }

  /** Shares the bytes and the mode of an earlier member, as the names of one file do on a disk. */
  #addHardLink(path: string, { name, linkName, mode }: TarHeader): void {
    const target = this.#contents.pathOf(linkName);
    const member = target === undefined ? undefined : this.#contents.memberAt(target);
    if (member === undefined) {
      const text = `The hard link “${printableName(name)}” has the target “${printableName(linkName)}”, which is no earlier file of the archive.`;
      this.#contents.faults.add('BAD_LINK', text);
      return;
    }
    if (member.mode !== '120000') member.mode = mode & ownerExecutes ? '100755' : '100644';
    if (path === target) return;
    this.#add(path, member);
    this.#linkedTargets.add(target!, member, name);
  }

  #addSpecial({ name, type }: TarHeader): void {
    const kind =
      { '3': 'a character device', '4': 'a block device', '6': 'a FIFO' }[type] ??
      `of the unsupported type “${printableName(type)}”`;
    const text = `The member “${printableName(name)}” is ${kind}; only regular files, directories and links are supported.`;
    this.#contents.faults.add('SPECIAL_FILE', text);
  }

  #add(path: string, member: Member): boolean {
    const added = this.#contents.addMember(path, member);
    if (added === 'replaced') {
      const text = `The member “${printableName(path)}” is in the archive more than once (duplicate); the last one counts.`;
      this.#contents.warnings.add('DUPLICATE', text);
      this.#linkedTargets.checkReplaced(path, member);
    }
    return added !== undefined;
  }
}

/** The bytes of one file: hashed at once where they come in one piece or are few, else piece by piece. */
class MemberData {
  readonly #member: Member;
  readonly #size: number;
  readonly #hash: MemberHash | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #filled = 0;

  constructor(member: Member, size: number) {
    this.#member = member;
    this.#size = size;
    if (size > largeMember) this.#hash = new MemberHash(size);
  }

  push(piece: Buffer): void {
    if (this.#hash) this.#hash.update(piece);
    else if (piece.length === this.#size) fillMember(this.#member, hashMember(piece));
    else this.#collect(piece);
  }

  finish(): void {
    if (this.#hash) fillMember(this.#member, this.#hash.digest());
    else if (this.#filled > 0 || this.#size === 0) fillMember(this.#member, hashMember(this.#bytes));
  }

  #collect(piece: Buffer): void {
    if (this.#filled === 0) this.#bytes = Buffer.allocUnsafe(this.#size);
    this.#filled += piece.copy(this.#bytes, this.#filled);
  }
}

/** Old programs mark a directory by the slash at the end of its name alone. */
export function kindOf({ name, type }: TarHeader): Kind | undefined {
  const kind = kinds[type];
  return kind === 'file' && name.endsWith('/') ? 'directory' : kind;
}

function sizedNonFile({ name, size }: TarHeader) {
  return corrupt(
    'CORRUPT',
    `the member “${printableName(name)}” is no regular file, yet has a size of ${size} bytes (invalid)`,
  );
}
