/** So many places, and for one owner no more than a share of them: nobody keeps all the others out. */
export class Places {
  readonly #inAll: number;
  readonly #ofOne: number;
  /** Of each owner that has any. */
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(inAll: number, ofOne: number) {
    this.#inAll = inAll;
    this.#ofOne = ofOne;
  }

  /** Why there is none for the owner: it has its share, or all are taken. */
  lackFor(owner: string): 'share taken' | 'all taken' | undefined {
    if (this.#of(owner) >= this.#ofOne) return 'share taken';
    return this.#all >= this.#inAll ? 'all taken' : undefined;
  }

  /** To be asked before with {@link lackFor}. */
  take(owner: string): Disposable {
    this.#add(owner, 1);
    return { [Symbol.dispose]: () => this.#add(owner, -1) };
  }

  #add(owner: string, change: 1 | -1): void {
    this.#all += change;
    const count = this.#of(owner) + change;
    if (count > 0) this.#taken.set(owner, count);
    else this.#taken.delete(owner);
  }

  #of(owner: string): number {
    return this.#taken.get(owner) ?? 0;
  }
}
