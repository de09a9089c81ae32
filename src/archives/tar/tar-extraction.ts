import { memberPath } from '../members/entry-path.ts';
import type { ContentOutput, WantedMembers } from '../members/member-output.ts';
import type { WantedMember } from '../tree/tree-entry.ts';
import { TarReader, type TarSink } from './tar.ts';
import type { TarHeader } from './tar-header.ts';
import { kindOf } from './tar-members.ts';

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>;

/**
 * Reads the wanted members in two passes: only the end of the tar determines which of several members of one name
 * counts, and what hard links share. Resolves to the number of members read.
 */
export async function readTarMembers(
  pieces: () => Pieces,
  wanted: WantedMembers,
  output: ContentOutput,
): Promise<number> {
  const places = new Places();
  const finder = new TarReader(places);
  for await (const piece of pieces()) {
    finder.push(piece);
    await output.drained();
  }
  finder.finish();
  const emission = new Emission(places.of(wanted), output);
  const planned = emission.left;
  const reader = new TarReader(emission);
  for await (const piece of pieces()) {
    if (emission.left === 0) break;
    reader.push(piece);
    await emission.drained();
  }
  return planned - emission.left;
}

/** Members that share the bytes of one member of the archive, by its number. */
type Plan = ReadonlyMap<number, readonly WantedMember[]>;

/** Determines which member of the archive finally provides the bytes of a path. */
class Places implements TarSink {
  readonly #latest = new Map<string, number>();
  #number = -1;

  member(header: TarHeader): void {
    this.#number += 1;
    const kind = kindOf(header);
    const path = memberPath(header.name);
    if (path === undefined || kind === undefined || kind === 'directory') return;
    const target = kind === 'hard link' ? memberPath(header.linkName) : undefined;
    const number = target === undefined ? this.#number : this.#latest.get(target);
    if (number !== undefined) this.#latest.set(path, number);
  }

  of(wanted: WantedMembers): Plan {
    const plan = new Map<number, WantedMember[]>();
    for (const [path, member] of wanted) {
      const number = this.#latest.get(path);
      if (number !== undefined) plan.getOrInsert(number, []).push(member);
    }
    return plan;
  }
}

type Repetition = {
  readonly members: readonly WantedMember[];
  readonly write: (member: WantedMember) => void;
};

class Emission implements TarSink {
  readonly #plan: Plan;
  readonly #output: ContentOutput;
  #number = -1;
  #due: readonly WantedMember[] = [];
  #linkTarget: string | undefined;
  /** Members with the bytes of an earlier one, which are not written yet. */
  readonly #repetitions: Repetition[] = [];
  /** Number of members that have not been read yet. */
  left: number;

  constructor(plan: Plan, output: ContentOutput) {
    this.#plan = plan;
    this.#output = output;
    this.left = plan.values().reduce((sum, members) => sum + members.length, 0);
  }

  member(header: TarHeader): void {
    this.#number += 1;
    this.#due = this.#plan.get(this.#number) ?? [];
    this.#linkTarget = kindOf(header) === 'link' ? header.linkName : undefined;
    const [first] = this.#due;
    if (!first) return;
    if (this.#linkTarget !== undefined) this.#output.link(first, this.#linkTarget);
    else this.#output.begin(first);
  }

  data(piece: Buffer): void {
    if (this.#due.length > 0) this.#output.data(piece);
  }

  end(): void {
    const [first, ...members] = this.#due;
    if (!first) return;
    const target = this.#linkTarget;
    if (target === undefined) this.#output.end();
    const write = (member: WantedMember): void =>
      target === undefined ? this.#output.repeat(member, first) : this.#output.link(member, target);
    if (members.length > 0) this.#repetitions.push({ members, write });
    this.left -= this.#due.length;
    this.#due = [];
  }

  /**
   * Writes the repetitions, unless a member is being written: one file may have very many hard links, so that all of them
   * need more memory than a chunk.
   */
  async drained(): Promise<void> {
    const repetitions = this.#due.length === 0 ? this.#repetitions.splice(0) : [];
    for (const { members, write } of repetitions) {
      for (const member of members) {
        write(member);
        await this.#output.drained();
      }
    }
    await this.#output.drained();
  }
}
