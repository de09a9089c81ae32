/** What waits stands in lines, one for each owner, and is taken from one line after the other: nobody keeps others out. */
export class InTurn<Thing> {
  /** The owner whose turn is next comes first. */
  readonly #lines = new Map<string, Thing[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(owner: string, thing: Thing): void {
    const line = this.#lines.get(owner);
    if (line) line.push(thing);
    else this.#lines.set(owner, [thing]);
    this.#size += 1;
  }

  /** The first in the line of the owner whose turn it is, of those who `may` have theirs now. */
  take(may: (owner: string) => boolean = () => true): Thing | undefined {
    for (const [owner, line] of this.#lines) {
      if (!may(owner)) continue;
      const first = line.shift();
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      this.#size -= 1;
      return first;
    }
    return undefined;
  }

  /** Everything that waits, which then waits no more. */
  takeAll(): Thing[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#size = 0;
    return all;
  }
}
