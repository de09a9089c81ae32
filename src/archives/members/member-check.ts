import { createHash, type Hash, hash } from 'node:crypto';
import { contentHash, contentId } from '../../swhid/content.ts';
import { Unreadable } from '../faults.ts';
import type { WantedMember } from './member-output.ts';
import { sanitizeName } from './sanitize-name.ts';

const nothing = new Uint8Array(0);
// Hashing all at once is faster up to this size.
const largeMember = 1024 ** 2;

type Found = { readonly id: string; readonly sha256: string };

/** Verifies that bytes are those of a member: by its content id, which is a SHA-1, and by its SHA-256. */
export class MemberCheck {
  readonly #member: WantedMember;
  #hashes: { readonly id: ReturnType<typeof contentHash>; readonly sha256: Hash } | undefined;
  #found: Found | undefined;

  constructor(member: WantedMember) {
    this.#member = member;
  }

  /** Adds a chunk. Most members are read in one chunk. */
  update(piece: Uint8Array): void {
    const { length } = this.#member;
    if (!this.#hashes && piece.length === length && length <= largeMember) {
      this.#found = hashesOf(piece);
      return;
    }
    this.#hashes ??= { id: contentHash(length), sha256: createHash('sha256') };
    this.#hashes.id.update(piece);
    this.#hashes.sha256.update(piece);
  }

  /** @throws {Unreadable} */
  finish(): void {
    assertFound(this.#member, this.#digests() ?? this.#found ?? hashesOf(nothing));
  }

  #digests(): Found | undefined {
    return this.#hashes && { id: this.#hashes.id.digest(), sha256: this.#hashes.sha256.digest('hex') };
  }
}

/** Returns the bytes of a link. @throws {Unreadable} they are not those of the member. */
export function checkedTarget(member: WantedMember, target: string): Buffer {
  const bytes = Buffer.from(target, 'latin1');
  assertFound(member, hashesOf(bytes));
  return bytes;
}

function hashesOf(bytes: Uint8Array): Found {
  return { id: contentId(bytes), sha256: hash('sha256', bytes) };
}

function assertFound(member: WantedMember, { id, sha256 }: Found): void {
  const shown = `The member “${sanitizeName(member.path)}”`;
  const before = 'when the deposit was loaded';
  if (id !== member.id)
    throw new Unreadable('CORRUPT', `${shown} is the content ${id} where it was ${member.id} ${before}.`);
  if (sha256 !== member.sha256)
    throw new Unreadable(
      'CORRUPT',
      `${shown} has the SHA-256 ${sha256} where it was ${member.sha256} ${before}.`,
    );
}
