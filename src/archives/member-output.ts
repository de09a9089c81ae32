import type { LeafMode } from '../swhid/directory.ts';
import { checkedTarget, MemberCheck } from './member-check.ts';
import { tarHeader, tarPadding } from './tar/tar-writer.ts';
import type { PieceSender } from './threads/piece-sender.ts';

/** A file or link that is to be read; its path is a latin1 string of raw bytes. */
export type WantedMember = {
  readonly path: string;
  readonly mode: LeafMode;
  /** Content id, 40 hex digits: what is read has to have it. */
  readonly id: string;
  /** SHA-256 of its bytes, 64 hex digits: what is read has to have it, too. */
  readonly sha256: string;
  readonly length: number;
};

/** By path. */
export type WantedMembers = ReadonlyMap<string, WantedMember>;

/** Takes wanted members one after the other; `data` comes only between `begin` and `end`. */
export interface MemberOutput {
  begin(member: WantedMember): void;
  data(piece: Uint8Array): void;
  end(): void;
  link(member: WantedMember, target: string): void;
  /** The same bytes as those of a member that came before, under another path. */
  again(member: WantedMember, first: WantedMember): void;
  /** To be waited for now and then, lest bytes pile up. */
  drained(): Promise<void>;
}

/** The bytes of one content, and nothing else. */
export class ContentOutput implements MemberOutput {
  readonly #sender: PieceSender;
  #check: MemberCheck | undefined;

  constructor(sender: PieceSender) {
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

  again(): void {}

  drained(): Promise<void> {
    return this.#sender.drained();
  }
}

/** Members of a tar, without its end; paths are told relative to a directory. */
export class TarOutput implements MemberOutput {
  readonly #sender: PieceSender;
  readonly #below: number;
  #check: MemberCheck | undefined;
  #length = 0;

  /** @param below length of what all paths begin with. */
  constructor(sender: PieceSender, below: number) {
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

  again(member: WantedMember, first: WantedMember): void {
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
