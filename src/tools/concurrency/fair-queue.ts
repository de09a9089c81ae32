/** A FIFO queue per owner, served round-robin, so that one owner cannot starve the others. */
export class FairQueue<Item> {
  /** Queues by owner, in the order in which the owners are served. */
  readonly #queues = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(owner: string, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue) queue.push(item);
    else this.#queues.set(owner, [item]);
    this.#size += 1;
  }

  /** Removes and returns the first item of the next owner that `may` accepts. */
  take(may: (owner: string) => boolean = () => true): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!may(owner)) continue;
      const first = queue.shift();
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue);
      this.#size -= 1;
      return first;
    }
    return undefined;
  }

  /** Removes and returns all items. */
  takeAll(): Item[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#size = 0;
    return all;
  }
}
