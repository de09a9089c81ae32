import type { LeafMode } from '../../swhid/directory.ts';
import { corrupt } from '../faults.ts';
import { type Member, type MemberCollector, unreadMember } from '../member-collector.ts';
import { hashMember, MemberHash } from '../members/member-hash.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import type { TarSink } from './tar.ts';
import type { TarHeader } from './tar-header.ts';

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

/** Types of members that GNU tar adds for `--listed-incremental`, `--multi-volume` and `--label`. */
const ofBackups: { [type: string]: string | undefined } = {
  D: ', a directory of an incremental backup',
  M: ', the rest of a file in another volume',
  V: ', a volume label',
};

/** Adds the members of a tar to the collector and hashes their data. */
export class TarMembers implements TarSink {
  readonly #contents: MemberCollector;
  /** The first hard link to each target. */
  readonly #links = new Map<string, { readonly member: Member; readonly linkName: string }>();
  /** The hard link that changed the mode of a file. There are two modes, so that a second change undoes the first. */
  readonly #modeChanges = new Map<Member, string>();
  #reading: { readonly member: Member; readonly hash: MemberHash } | undefined;

  constructor(contents: MemberCollector) {
    this.#contents = contents;
  }

  extension(header: TarHeader): void {
    this.#contents.countExtension(header.size);
    this.#checkNumbers(header);
  }

  openName(name: string): void {
    if (!this.#contents.rejectsAmbiguities) return;
    const text = `The long name “${sanitizeName(name)}” goes on behind its size: readers of tar differ in where it ends. Pack it with another program.`;
    this.#contents.faults.add('HEADER_MISMATCH', text);
  }

  member(header: TarHeader): void {
    const kind = kindOf(header);
    this.#contents.countMember(header.name);
    this.#contents.countBytes(header.size);
    // A global header may give one long target to every link.
    if (kind === 'link' || kind === 'hard link') this.#contents.countPathBytes(header.linkName.length);
    const path = this.#contents.pathOf(header.name);
    this.#checkNumbers(header);
    if (kind === undefined) return this.#addSpecial(header);
    if (kind !== 'file' && header.size > 0) throw nonFileWithSizeError(header);
    if (path === undefined) return;
    if (kind === 'file') this.#addFile(path, header);
    else if (kind === 'directory') this.#contents.addDirectory(path);
    else if (kind === 'link') this.#addLink(path, header);
    else this.#addHardLink(path, header);
  }

  data(piece: Buffer): void {
    this.#reading?.hash.update(piece);
  }

  end(): void {
    if (this.#reading) Object.assign(this.#reading.member, this.#reading.hash.digest());
    this.#reading = undefined;
  }

  /** Must be called after the last member. */
  finish(): void {
    const [change] = this.#modeChanges;
    if (change === undefined) return;
    const [{ mode }, path] = change;
    const kind = mode === '100755' ? 'executable' : 'not executable';
    const others = this.#modeChanges.size - 1;
    const more = others === 0 ? '' : ` Not listed: ${others} more like it.`;
    const text = `The hard link “${sanitizeName(path)}” gives its target another mode, ${kind}: the last one counts here, but most programs retain the first. Pack both with one mode.${more}`;
    this.#contents.warnings.add('LINK_MODE', text);
  }

  #checkNumbers({ name, isAmbiguous }: TarHeader): void {
    if (!isAmbiguous || !this.#contents.rejectsAmbiguities) return;
    const text = `The mode or the size of the member “${sanitizeName(name)}” begins with a NUL: readers of tar differ in its value. Pack it with another program.`;
    this.#contents.faults.add('HEADER_MISMATCH', text);
  }

  #addFile(path: string, { mode, size }: TarHeader): void {
    const member = unreadMember(fileMode(mode));
    if (this.#add(path, member)) this.#reading = { member, hash: new MemberHash(size) };
  }

  #addLink(path: string, { linkName }: TarHeader): void {
    const member = unreadMember('120000');
    Object.assign(member, hashMember(Buffer.from(linkName, 'latin1')));
    if (this.#add(path, member)) this.#contents.checkLink(path, linkName);
  }

  /** Adds a hard link, which shares the bytes and the mode of an earlier member, like two names of one file. */
  #addHardLink(path: string, { name, linkName, mode }: TarHeader): void {
    const target = this.#contents.pathOf(linkName);
    const member = target === undefined ? undefined : this.#contents.memberAt(target);
    if (member === undefined) {
      const text = `The hard link “${sanitizeName(name)}” has the target “${sanitizeName(linkName)}”, which is no earlier file of the archive.`;
      this.#contents.faults.add('BAD_LINK', text);
      return;
    }
    if (member.mode !== '120000') this.#setMode(member, fileMode(mode), path);
    if (path === target) return;
    this.#contents.countBytes(member.length); // each name is a file to programs that do not keep links
    this.#add(path, member);
    if (this.#contents.rejectsAmbiguities && !this.#links.has(target!))
      this.#links.set(target!, { member, linkName: name });
  }

  /** Sets the mode of a hard link's header. Most readers ignore it, so that a change gets a warning. */
  #setMode(member: Member, mode: LeafMode, path: string): void {
    if (member.mode === mode) return;
    member.mode = mode;
    if (!this.#modeChanges.delete(member)) this.#modeChanges.set(member, path);
  }

  #addSpecial({ name, type }: TarHeader): void {
    const kind =
      { '3': 'a character device', '4': 'a block device', '6': 'a FIFO' }[type] ??
      `of the unsupported type “${sanitizeName(type)}”${ofBackups[type] ?? ''}`;
    const text = `The member “${sanitizeName(name)}” is ${kind}; only regular files, directories and links are supported.`;
    this.#contents.faults.add('SPECIAL_FILE', text);
  }

  #add(path: string, member: Member): boolean {
    const added = this.#contents.addMember(path, member);
    if (added === 'replaced') {
      const text = `The member “${sanitizeName(path)}” is in the archive more than once (duplicate); the last one counts.`;
      this.#contents.warnings.add('DUPLICATE', text);
      this.#checkReplaced(path, member);
    }
    return added !== undefined;
  }

  /**
   * Adds a fault if a hard link shares the bytes that `path` had before. Readers that write the duplicate into the
   * existing file change the link, too; GNU tar replaces the file, so the link retains the earlier bytes. Another link
   * to these is not a change.
   */
  #checkReplaced(path: string, member: Member): void {
    const linked = this.#links.get(path);
    if (linked === undefined || linked.member === member) return;
    const text = `The member “${sanitizeName(path)}” comes again (duplicate) after the hard link “${sanitizeName(linked.linkName)}” to it: readers of tar differ in which bytes the link has. Pack each path once.`;
    this.#contents.faults.add('DUPLICATE', text);
  }
}

/** Returns the kind of a member. Old programs mark a directory only by a slash at the end of its name. */
export function kindOf({ name, type }: TarHeader): Kind | undefined {
  const kind = kinds[type];
  return kind === 'file' && name.endsWith('/') ? 'directory' : kind;
}

function fileMode(mode: number): LeafMode {
  return mode & ownerExecutes ? '100755' : '100644';
}

function nonFileWithSizeError({ name, size }: TarHeader) {
  return corrupt(
    'CORRUPT',
    `the member “${sanitizeName(name)}” is no regular file, yet has a size of ${size} bytes (invalid)`,
  );
}
