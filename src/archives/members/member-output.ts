import type { LeafMode } from '../../swhid/directory.ts';
import { tarHeader, tarPadding } from '../tar/tar-writer.ts';
import type { ChunkSender } from '../workers/chunk-sender.ts';
import { checkedTarget, MemberCheck } from './member-check.ts';

/** A file or link to read; its path is a latin1 string of raw bytes. */
export type WantedMember = {
  readonly path: string;
  readonly mode: LeafMode;
  /** Content id, 40 hex digits, that the bytes must have. */
  readonly id: string;
  /** SHA-256, 64 hex digits, that the bytes must have, too. */
  readonly sha256: string;
  readonly length: number;
};

/** Wanted members by path. */
export type WantedMembers = ReadonlyMap<string, WantedMember>;

/** Receives wanted members one after the other; `data` is called only between `begin` and `end`. */
export interface MemberOutput {
  begin(member: WantedMember): void;
  data(piece: Uint8Array): void;
  end(): void;
  link(member: WantedMember, target: string): void;
  /** Writes a member with the bytes of an earlier one, under another path. */
  repeat(member: WantedMember, first: WantedMember): void;
  /** Must be awaited regularly, so that the memory for unsent bytes is bounded. */
  drained(): Promise<void>;
}

/** Writes the bytes of one content, and no other bytes. */
export class ContentOutput implements MemberOutput {
  readonly #sender: ChunkSender;
  #check: MemberCheck | undefined;

  constructor(sender: ChunkSender) {
    this.#sender = sender;
  }

  begin(member: WantedMember): void {
    this.#check = new MemberCheck(member);
  }

  data(piece: Uint8Array): void {
    this.#check?.update(piece);
    this.#sender.write(piece);
  }

  end(): void {
    this.#check?.finish();
  }

  link(member: WantedMember, target: string): void {
    this.#sender.write(checkedTarget(member, target));
  }

  repeat(): void {}

  drained(): Promise<void> {
    return this.#sender.drained();
  }
}

/** Writes members as a tar without its end; paths are relative to a directory. */
export class TarOutput implements MemberOutput {
  readonly #sender: ChunkSender;
  readonly #below: number;
  #check: MemberCheck | undefined;
  #length = 0;

  /** @param below length of the common prefix of all paths. */
  constructor(sender: ChunkSender, below: number) {
    this.#sender = sender;
    this.#below = below;
  }

  begin(member: WantedMember): void {
    const { mode, length } = member;
    this.#check = new MemberCheck(member);
    this.#length = length;
    this.#sender.write(tarHeader({ type: 'file', path: this.#pathOf(member), mode, length }));
  }

  data(piece: Uint8Array): void {
    this.#check?.update(piece);
    this.#sender.write(piece);
  }

  end(): void {
    this.#check?.finish();
    this.#sender.write(tarPadding(this.#length));
  }

  link(member: WantedMember, target: string): void {
    checkedTarget(member, target);
    this.#sender.write(tarHeader({ type: 'link', path: this.#pathOf(member), target }));
  }

  repeat(member: WantedMember, first: WantedMember): void {
    const target = this.#pathOf(first);
    this.#sender.write(
      tarHeader({ type: 'hard link', path: this.#pathOf(member), mode: member.mode, target }),
    );
  }

  drained(): Promise<void> {
    return this.#sender.drained();
  }

  #pathOf({ path }: WantedMember): string {
    return path.slice(this.#below);
  }
}
