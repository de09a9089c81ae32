import type { LogView } from '../storage/log-view.ts';
import type { StoredEvent } from '../storage/stored-events.ts';
import { type Accepts, acceptor } from './event-filter.ts';
import type { GroupSettings } from './group-settings.ts';

/** `leftOut`: the events that were looked at from `from` on, when the filter accepts none of them. */
export type GroupPage = {
  readonly events: readonly StoredEvent[];
  readonly from: bigint;
  readonly isEnd: boolean;
  readonly leftOut: number;
};

const LARGEST_BATCH = 100;
const PAGE = 100;

/** Reads the events of a group from the log, one page at a time. */
export class GroupReader {
  readonly #view: LogView;
  readonly #accepts: Accepts;
  readonly #batch: number;
  /** The number of events that one read looks at, where a filter may leave out all of them. */
  readonly #window: number;
  #next: bigint;
  #skipsFirst: boolean;
  #isReading = false;

  /** From a checkpoint on, the event at that position is skipped; else the group begins where its settings say. */
  constructor(view: LogView, settings: GroupSettings, checkpoint: bigint | undefined) {
    const { filter, readBatchSize, maxCheckPointCount, startFrom } = settings;
    this.#view = view;
    this.#accepts = acceptor(filter);
    this.#batch = Math.min(readBatchSize || 20, LARGEST_BATCH);
    this.#window = filter ? Math.max(this.#batch, maxCheckPointCount) : Number.POSITIVE_INFINITY;
    this.#next = checkpoint ?? (startFrom === 'end' ? 0n : startFrom);
    this.#skipsFirst = checkpoint !== undefined;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  accepts(event: StoredEvent): boolean {
    return this.#accepts(event);
  }

  /** The next page begins at this position. */
  goTo(position: bigint): void {
    this.#next = position;
  }

  /** Reads a page unless one is being read. */
  request(receive: (page: GroupPage) => void): void {
    if (this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => {
      this.#isReading = false;
      receive(this.#page());
    });
  }

  #page(): GroupPage {
    const [from, skipsFirst] = [this.#next, this.#skipsFirst];
    const { events, looked, isEnd } = this.#search();
    this.#skipsFirst = false;
    // With a filter the first event of the page need not be the one at the checkpoint. It is dropped all the same.
    const others = skipsFirst ? events.slice(1) : events;
    return { events: others, from, isEnd, leftOut: events.length === 0 ? looked : 0 };
  }

  #search(): { readonly events: StoredEvent[]; readonly looked: number; readonly isEnd: boolean } {
    const events: StoredEvent[] = [];
    let looked = 0;
    while (true) {
      const page = this.#view.page(this.#next, { count: PAGE });
      for (const event of page) {
        this.#next = event.position + 1n;
        looked += 1;
        if (this.#accepts(event)) events.push(event);
        if (events.length === this.#batch || looked === this.#window) return { events, looked, isEnd: false };
      }
      if (page.length < PAGE) return { events, looked, isEnd: true };
    }
  }
}
