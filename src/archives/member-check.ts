import { contentHash, contentId } from '../swhid/content.ts';
import { Unreadable } from './faults.ts';
import type { WantedMember } from './member-output.ts';
import { printableName } from './printable-name.ts';

const nothing = new Uint8Array(0);
// Hashing all at once pays up to here.
const largeMember = 1024 ** 2;

/** Whether bytes that pass by are those of a member. */
export class MemberCheck {
  readonly #member: WantedMember;
  #hash: ReturnType<typeof contentHash> | undefined;
  #found: string | undefined;

  constructor(member: WantedMember) {
    this.#member = member;
  }

  /** Most members come in one piece. */
  update(piece: Uint8Array): void {
    const { length } = this.#member;
    if (!this.#hash && piece.length === length && length <= largeMember) this.#found = contentId(piece);
    else this.#hash = (this.#hash ?? contentHash(length)).update(piece);
  }

  /** @throws {Unreadable} */
  finish(): void {
    const found = this.#hash?.digest() ?? this.#found ?? contentId(nothing);
    if (found !== this.#member.id) throw otherBytes(this.#member, found);
  }
}

/** The bytes of a link. @throws {Unreadable} they are not the ones. */
export function checkedTarget(member: WantedMember, target: string): Buffer {
  const bytes = Buffer.from(target, 'latin1');
  const found = contentId(bytes);
  if (found !== member.id) throw otherBytes(member, found);
  return bytes;
}

function otherBytes({ path, id }: WantedMember, found: string): Unreadable {
  return new Unreadable(
    'CORRUPT',
    `The member “${printableName(path)}” is the content ${found} where it was ${id} when the deposit was loaded.`,
  );
}
