/** The elements of pages, one by one. A generator would make several promises for each of them. */
export class ElementsOf<Element> implements AsyncIterator<Element, undefined> {
  readonly #pages: AsyncGenerator<readonly Element[], undefined>;
  #page: readonly Element[] = [];
  #next = 0;

  constructor(pages: AsyncGenerator<readonly Element[], undefined>) {
    this.#pages = pages;
  }

  next(): Promise<IteratorResult<Element, undefined>> {
    if (this.#next === this.#page.length) return this.#turnPage();
    const value = this.#page[this.#next] as Element; // it is below the length
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
