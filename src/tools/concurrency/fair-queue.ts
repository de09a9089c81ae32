/** A FIFO queue per owner, served round-robin, so that one owner cannot starve the others. */
export class FairQueue<Item> {
  /** Queues by owner, in the order in which the owners are served. */
  readonly #queues = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(owner: string): number {
    return this.#queues.get(owner)?.length ?? 0;
  }

  add(owner: string, item: Item): void {
    this.#queues.getOrInsert(owner, []).push(item);
    this.#size += 1;
  }

  /** Removes and returns the first item of the next owner, of those whose first item `may` accepts. */
  take(may: (owner: string, first: Item) => boolean = () => true): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      const [first] = queue;
      if (first === undefined || !may(owner, first)) continue;
      queue.shift();
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue);
      this.#size -= 1;
      return first;
    }
    return undefined;
  }

  /** Returns whether `may` accepts an owner that has an item. */
  some(may: (owner: string) => boolean): boolean {
    return this.#queues.keys().some(may);
  }

  /** Removes an item; returns `false` if it is no longer in the queue. */
  remove(owner: string, item: Item): boolean {
    const queue = this.#queues.get(owner);
    const at = queue?.indexOf(item) ?? -1;
    if (queue === undefined || at === -1) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(owner);
    this.#size -= 1;
    return true;
  }

  takeAll(): Item[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#size = 0;
    return all;
  }
}
