/** Iterates over the elements of pages. A generator would create several promises for each element. */
export class PageIterator<Element> implements AsyncIterator<Element, undefined> {
  readonly #pages: AsyncGenerator<readonly Element[], undefined>;
  #page: readonly Element[] = [];
  #next = 0;

  constructor(pages: AsyncGenerator<readonly Element[], undefined>) {
    this.#pages = pages;
  }

  next(): Promise<IteratorResult<Element, undefined>> {
    if (this.#next === this.#page.length) return this.#turnPage();
    const value = this.#page[this.#next] as Element; // the index is below the length
    this.#next += 1;
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#page = [];
    this.#next = 0;
    return this.#pages.return(undefined) as Promise<IteratorReturnResult<undefined>>;
  }

  async #turnPage(): Promise<IteratorResult<Element, undefined>> {
    const found = await this.#pages.next();
    if (found.done) return found;
    this.#page = found.value;
    this.#next = 0;
    return this.next();
  }
}
