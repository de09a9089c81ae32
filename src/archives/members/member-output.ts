import { Unreadable } from '../faults.ts';
import { tarHeader, tarPadding } from '../tar/tar-writer.ts';
import type { WantedMember } from '../tree/tree-entry.ts';
import type { ChunkSender } from '../workers/chunk-sender.ts';
import { type Hashed, hashMember, MemberHash } from './member-hash.ts';
import { sanitizeName } from './sanitize-name.ts';

/** Wanted members by path. */
export type WantedMembers = ReadonlyMap<string, WantedMember>;

/**
 * Writes the bytes of wanted members, one after the other; verifies them by content id, which is a SHA-1, and SHA-256.
 * `data` is called only between `begin` and `end`.
 */
export class ContentOutput {
  readonly #sender: ChunkSender;
  #reading: { readonly member: WantedMember; readonly hash: MemberHash } | undefined;

  constructor(sender: ChunkSender) {
    this.#sender = sender;
  }

  begin(member: WantedMember): void {
    this.#reading = { member, hash: new MemberHash(member.length) };
  }

  data(piece: Uint8Array): void {
    this.#reading?.hash.update(piece);
    this.#sender.write(piece);
  }

  /** @throws {Unreadable} other bytes than those of the member. */
  end(): void {
    if (this.#reading) assertSame(this.#reading.member, this.#reading.hash.digest());
  }

  link(member: WantedMember, target: string): void {
    const bytes = Buffer.from(target, 'latin1');
    assertSame(member, hashMember(bytes));
    this.#sender.write(bytes);
  }

  /** Writes a member with the bytes of an earlier one, under another path. */
  repeat(_member: WantedMember, _first: WantedMember): void {}

  /** Must be awaited regularly, so that the memory for unsent bytes is bounded. */
  drained(): Promise<void> {
    return this.#sender.drained();
  }
}

/** Writes members as a tar without its end; paths are relative to a directory. */
export class TarOutput extends ContentOutput {
  readonly #sender: ChunkSender;
  readonly #below: number;
  #length = 0;

  /** @param below length of the common prefix of all paths. */
  constructor(sender: ChunkSender, below: number) {
    super(sender);
    this.#sender = sender;
    this.#below = below;
  }

  /** Writes directories, by their paths. */
  async directories(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      this.#sender.write(tarHeader({ type: 'directory', path: path.slice(this.#below) }));
      await this.drained();
    }
  }

  override begin(member: WantedMember): void {
    const { mode, length } = member;
    super.begin(member);
    this.#length = length;
    this.#sender.write(tarHeader({ type: 'file', path: this.#pathOf(member), mode, length }));
  }

  override end(): void {
    super.end();
    this.#sender.write(tarPadding(this.#length));
  }

  override link(member: WantedMember, target: string): void {
    assertSame(member, hashMember(Buffer.from(target, 'latin1')));
    this.#sender.write(tarHeader({ type: 'link', path: this.#pathOf(member), target }));
  }

  override repeat(member: WantedMember, first: WantedMember): void {
    const target = this.#pathOf(first);
    this.#sender.write(
      tarHeader({ type: 'hard link', path: this.#pathOf(member), mode: member.mode, target }),
    );
  }

  #pathOf({ path }: WantedMember): string {
    return path.slice(this.#below);
  }
}

function assertSame(member: WantedMember, { id, sha256, length }: Hashed): void {
  const shown = `The member “${sanitizeName(member.path)}”`;
  const before = 'when the deposit was loaded';
  if (length > member.length)
    throw new Unreadable('CORRUPT', `${shown} has ${length} bytes where it had ${member.length} ${before}.`);
  if (id !== member.id)
    throw new Unreadable('CORRUPT', `${shown} is the content ${id} where it was ${member.id} ${before}.`);
  if (sha256 !== member.sha256)
    throw new Unreadable(
      'CORRUPT',
      `${shown} has the SHA-256 ${sha256} where it was ${member.sha256} ${before}.`,
    );
}
