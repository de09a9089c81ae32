import { hash } from 'node:crypto';
import type { LeafMode } from '../swhid/directory.ts';
import type { ArchiveFormat, ArchiveLimits, Inspection } from './archive-reader.ts';
import { Faults, Unreadable } from './faults.ts';
import { entryPath, pointsOutOfTree } from './members/entry-path.ts';
import { refusedByGit } from './members/git-name.ts';
import { sanitizeName } from './members/sanitize-name.ts';
import { encodeListing } from './tree/deposit-tree.ts';

/** A file or link of the archive. Hard links share one; its hashes are set once its bytes were read. */
export type Member = { mode: LeafMode; length: number; id: string; sha256: string; isArchive: boolean };

/** Maximum bytes of all paths of one archive or deposit together; bounds listings and manifests. */
export const TOTAL_PATH_BYTES = 64 * 1024 ** 2;

/** Maximum bytes of all extended headers of one tar together: all paths, and the same amount of other records. */
const TOTAL_EXTENSION_BYTES = 2 * TOTAL_PATH_BYTES;

/**
 * Collects the members of an archive. Readers report members here in the order of the archive; this class applies the
 * rules and limits of every format, and collects the faults.
 */
export class MemberCollector {
  readonly faults = new Faults();
  readonly warnings = new Faults();
  readonly #limits: ArchiveLimits;
  /** Explicit members by path, in the order of the archive; `null` is a directory. */
  readonly #members = new Map<string, Member | null>();
  /** All directories, including the root and the implied ones. */
  readonly #directories = new Set(['']);
  #count = 0;
  #bytes = 0;
  #pathBytes = 0;
  #extensionBytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  /** @throws {Unreadable} more members, or more bytes of names, than the limit. */
  countMember(name: string): void {
    this.#count += 1;
    if (this.#count > this.#limits.members) throw tooMany('entries', this.#limits.members);
    this.countPathBytes(name.length);
  }

  /** Counts bytes of paths and of targets of links. @throws {Unreadable} more bytes together than the limit. */
  countPathBytes(length: number): void {
    this.#pathBytes += length;
    if (this.#pathBytes > TOTAL_PATH_BYTES) {
      throw new Unreadable(
        'PATHS_TOO_LARGE',
        `The paths of the archive are too large: more than ${TOTAL_PATH_BYTES} bytes together (the limit).`,
      );
    }
  }

  /** Counts bytes of the extended headers of a tar. @throws {Unreadable} more bytes together than the limit. */
  countExtension(length: number): void {
    this.#extensionBytes += length;
    if (this.#extensionBytes > TOTAL_EXTENSION_BYTES) {
      throw new Unreadable(
        'TOO_LARGE',
        `The extended headers of the archive are too large: more than ${TOTAL_EXTENSION_BYTES} bytes of long names and pax records together (the limit).`,
      );
    }
  }

  /** Counts the bytes of a file, or of a hard link to one. @throws {Unreadable} more unpacked bytes than the limit. */
  countBytes(length: number): void {
    this.#bytes += length;
    const { unpackedBytes } = this.#limits;
    if (this.#bytes > unpackedBytes) {
      throw new Unreadable(
        'TOO_LARGE',
        `The archive is too large: more than ${unpackedBytes} bytes (the limit of the unpacked size).`,
      );
    }
  }

  /** @throws {Unreadable} the ratio of unpacked to packed bytes exceeds the limit. */
  checkRatio(packed: number, unpacked = this.#bytes): void {
    const { ratio, ratioFloor } = this.#limits;
    if (unpacked > ratioFloor && unpacked > ratio * packed) {
      throw new Unreadable(
        'RATIO',
        `The archive unpacks to more than ${ratio} times its size of ${packed} bytes (the limit of the ratio): it looks like a bomb.`,
      );
    }
  }

  /** Returns the normalised path of a member, or `undefined` after recording its fault. */
  pathOf(name: string): string | undefined {
    const result = entryPath(name, this.#limits);
    if ('path' in result) {
      this.#warnOfGit(result.path);
      return result.path;
    }
    this.faults.add(result.code, result.text);
  }

  /** Adds a directory, like {@link addMember}. The root always exists and is not a member. */
  addDirectory(path: string): 'added' | 'replaced' | undefined {
    if (path === '') return 'added';
    if (!this.#enterDirectory(path)) return undefined;
    if (this.#members.has(path)) return 'replaced';
    this.#members.set(path, null);
    return 'added';
  }

  /** Adds a file or link. Returns whether it replaced another one; `undefined` when the path is not possible. */
  addMember(path: string, member: Member): 'added' | 'replaced' | undefined {
    if (path === '') return this.#conflict('A file of the archive has the name of its root directory.');
    if (this.#directories.has(path)) {
      return this.#conflict(`The path “${sanitizeName(path)}” is both a file and a directory (conflict).`);
    }
    if (!this.#enterDirectory(parentOf(path))) return undefined;
    const replaced = this.#members.delete(path);
    this.#members.set(path, member);
    return replaced ? 'replaced' : 'added';
  }

  /** Whether that is a fault which readers understand differently, and older releases accepted. */
  get rejectsAmbiguities(): boolean {
    return this.#limits.rejectAmbiguities;
  }

  /** Returns the file or link of this path, as far as the archive was read. */
  memberAt(path: string): Member | undefined {
    return this.#members.get(path) ?? undefined;
  }

  /** Checks length and location of a link's target. Links are never followed. */
  checkLink(path: string, target: string): void {
    const shown = `The link “${sanitizeName(path)}”`;
    if (target === '') this.faults.add('BAD_LINK', `${shown} has an empty target.`);
    // A reader of text stops at the NUL; as bytes the target would have another identifier.
    if (target.includes('\0')) this.faults.add('BAD_LINK', `${shown} has a target that holds a NUL byte.`);
    if (this.checkTargetLength(path, target.length) && pointsOutOfTree(path, target)) {
      this.warnings.add(
        'LINK_OUT_OF_TREE',
        `${shown} points out of the tree, to “${sanitizeName(target)}”; it is kept as it is.`,
      );
    }
  }

  /** Returns whether a link's target is within the limit. */
  checkTargetLength(path: string, length: number): boolean {
    const { linkTargetBytes } = this.#limits;
    if (length <= linkTargetBytes) return true;
    this.faults.add(
      'BAD_LINK',
      `The link “${sanitizeName(path)}” has a target that is too long: ${length} bytes; the limit is ${linkTargetBytes}.`,
    );
    return false;
  }

  toInspection(format: ArchiveFormat, sha256: string): Inspection {
    const files = [...this.#members.values()].filter((member) => member !== null);
    if (this.faults.none) this.#checkWhole(files);
    if (!this.faults.none) return { outcome: 'refused', format, faults: this.faults.toArray() };
    const listing = encodeListing({ format, sha256 }, this.#members);
    return {
      outcome: 'accepted',
      format,
      files: files.length,
      bytes: bytesOf(files),
      warnings: this.warnings.toArray(),
      listing,
      listingSha256: hash('sha256', listing),
    };
  }

  #checkWhole(files: readonly Member[]): void {
    if (this.#members.size === 0) this.faults.add('EMPTY', 'The archive is empty: it has no entries.');
    const regular = files.filter(({ mode }) => mode !== '120000');
    if (regular.length > 0 && regular.every(({ isArchive }) => isArchive)) {
      this.faults.add(
        'ONLY_ARCHIVES',
        'The archive holds nothing but an archive within an archive: each of its files is an archive itself.',
      );
    }
  }

  /** Adds the directories down to `path`. Returns false when one of them is a file or a link. */
  #enterDirectory(path: string): boolean {
    if (this.#directories.has(path)) return true;
    const member = this.#members.get(path);
    if (member) {
      const kind = member.mode === '120000' ? 'link' : 'file';
      this.#conflict(
        `The path “${sanitizeName(path)}” is a ${kind} and a directory too (conflict): members lie below it.`,
      );
      return false;
    }
    if (!this.#enterDirectory(parentOf(path))) return false;
    this.#directories.add(path);
    if (this.#directories.size - 1 > this.#limits.members)
      throw tooMany('directory entries', this.#limits.members);
    return true;
  }

  #warnOfGit(path: string): void {
    const refused = refusedByGit(path);
    if (refused === undefined) return;
    const { segment, down } = refused;
    const text = `The path “${sanitizeName(down)}” has a name that git refuses to check out, “${sanitizeName(segment)}”; it is kept as it is.`;
    this.warnings.add('GIT_NAME', text);
  }

  #conflict(text: string): undefined {
    this.faults.add('PATH_CONFLICT', text);
  }
}

/** Returns a member whose bytes are still to be read. */
export function unreadMember(mode: LeafMode): Member {
  return { mode, length: 0, id: '', sha256: '', isArchive: false };
}

function bytesOf(files: readonly Member[]): number {
  return files.reduce((sum, { mode, length }) => (mode === '120000' ? sum : sum + length), 0);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function tooMany(what: string, limit: number): Unreadable {
  return new Unreadable(
    'TOO_MANY_ENTRIES',
    `The archive has too many ${what}: more than ${limit} (the limit).`,
  );
}
