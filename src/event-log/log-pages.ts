import { clock } from '../tools/clock.ts';
import type { Position, ReadAllOptions, RecordedEvent } from './event-log.ts';

/** Reads the next events of a log, synchronously. @throws {EventLogUnavailable} */
export type ReadPage = (
  after: Position | undefined,
  streamPrefixes: readonly string[] | undefined,
) => LogPage;

export type LogPage = {
  readonly events: readonly RecordedEvent[];
  /** All events up to this position are in `events` or were filtered out; never before the requested `after`. */
  readonly upTo: Position | undefined;
  /** Whether no event was after `upTo` when the page was read. */
  readonly atEnd: boolean;
};

/** Implements {@link EventLog.readAll}. */
export function readPages(read: ReadPage, options: ReadAllOptions): AsyncIterable<RecordedEvent> {
  return { [Symbol.asyncIterator]: () => new PageIterator(pages(read, options)) };
}

async function* pages(
  read: ReadPage,
  options: ReadAllOptions,
): AsyncGenerator<readonly RecordedEvent[], undefined> {
  let { after } = options;
  while (true) {
    options.signal?.throwIfAborted();
    const page = read(after, options.streamPrefixes);
    yield page.events;
    if (page.atEnd) return;
    after = page.upTo;
    await clock.nextTurn();
  }
}

/** Iterates over the elements of pages. A generator would create several promises for each element. */
class PageIterator<Element> implements AsyncIterator<Element, undefined> {
  readonly #pages: AsyncGenerator<readonly Element[], undefined>;
  #page: Iterator<Element, undefined> = [].values();

  constructor(pagesOfElements: AsyncGenerator<readonly Element[], undefined>) {
    this.#pages = pagesOfElements;
  }

  next(): Promise<IteratorResult<Element, undefined>> {
    const found = this.#page.next();
    return found.done ? this.#turnPage() : Promise.resolve(found);
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#page = [].values();
    return this.#pages.return(undefined) as Promise<IteratorReturnResult<undefined>>;
  }

  async #turnPage(): Promise<IteratorResult<Element, undefined>> {
    const found = await this.#pages.next();
    if (found.done) return found;
    this.#page = found.value.values();
    return this.next();
  }
}
