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
    await output.drained();
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

class Emission implements TarSink {
  readonly #plan: Plan;
  readonly #output: ContentOutput;
  #number = -1;
  #due: readonly WantedMember[] = [];
  #isLink = false;
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
    this.#isLink = kindOf(header) === 'link';
    const [first] = this.#due;
    if (!first) return;
    if (this.#isLink) for (const member of this.#due) this.#output.link(member, header.linkName);
    else this.#output.begin(first);
  }

  data(piece: Buffer): void {
    if (this.#due.length > 0) this.#output.data(piece);
  }

  end(): void {
    const [first, ...more] = this.#due;
    if (!first) return;
    if (!this.#isLink) {
      this.#output.end();
      for (const member of more) this.#output.repeat(member, first);
    }
    this.left -= this.#due.length;
    this.#due = [];
  }
}
