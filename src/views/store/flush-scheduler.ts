import { clock } from '../../tools/clock.ts';
import type { ViewStore, ViewTable } from '../view-store.ts';
import { ViewUnavailable } from '../view-unavailable.ts';

/**
 * Number of unwritten views of one table that triggers a write. Writing them blocks requests for some tenths
 * of a millisecond.
 */
const BATCH_VIEWS = 16;
/**
 * Maximum number of unwritten views of a table while the disk accepts no writes. At this limit no further
 * changes are applied.
 */
const MAX_UNSAVED = 1000;
/**
 * Milliseconds until the table with the most changes is written, and between writes of positions that changed
 * no view.
 */
const [FLUSH_DELAY_MS, POSITIONS_INTERVAL_MS] = [15, 1000];
/** Milliseconds until a failed write is repeated. */
const RETRY_DELAY_MS = 500;

/**
 * Writes views with a short delay after the events: many changes share a transaction, and of several changes
 * of one view only the last is written. A crash loses no data: unwritten changes are read from the log again.
 */
export class FlushScheduler {
  readonly #store: ViewStore;
  readonly #tables: () => readonly ViewTable[];
  readonly #stopped: AbortSignal;
  readonly #failed: (error: unknown) => void;
  #lastError: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #savedAll = 0;

  /** @param failed called with an error other than a full disk, when no caller awaits the write. */
  constructor(
    store: ViewStore,
    tables: () => readonly ViewTable[],
    stopped: AbortSignal,
    failed: (error: unknown) => void,
  ) {
    this.#failed = failed;
    this.#store = store;
    this.#tables = tables;
    this.#stopped = stopped;
  }

  /** The reason why views cannot be written at the moment; `undefined` when there is no error. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /**
   * Whether tables must accept no further changes for now: the disk accepts no writes, and a table is at its
   * limit.
   */
  get isFull(): boolean {
    return this.#lastError !== undefined && this.#fullest().unsaved >= MAX_UNSAVED;
  }

  /** Must be called after tables have accepted changes. */
  changed(): void {
    if (this.#lastError === undefined && this.#fullest().unsaved >= BATCH_VIEWS)
      this.#save([this.#fullest()]);
    this.#schedule(this.#lastError === undefined ? FLUSH_DELAY_MS : RETRY_DELAY_MS);
  }

  /** Resolves when tables may accept changes again, or when the scheduler is stopped. */
  async waitForSpace(): Promise<void> {
    while (this.isFull && !this.#stopped.aborted) {
      await clock.sleep(RETRY_DELAY_MS, this.#stopped).catch(() => undefined);
    }
  }

  /** Writes all remaining changes, if the disk accepts them. */
  end(): void {
    clock.clearTimeout(this.#timer);
    this.#save(this.#tables());
  }

  #schedule(milliseconds: number): void {
    this.#timer ??= clock.setTimeout(() => {
      this.#timer = undefined;
      try {
        this.#saveChanged();
      } catch (error) {
        this.#failed(error);
      }
    }, milliseconds);
  }

  /**
   * Writes one table at a time, so that requests are answered in between. Every second also writes the
   * positions of tables without changes.
   */
  #saveChanged(): void {
    const isTimeForAll = clock.monotonic() - this.#savedAll >= POSITIONS_INTERVAL_MS;
    const others = isTimeForAll ? this.#tables().filter(({ unsaved }) => unsaved === 0) : [];
    if (isTimeForAll) this.#savedAll = clock.monotonic();
    this.#save([this.#fullest(), ...others]);
    if (this.#lastError !== undefined) this.#schedule(RETRY_DELAY_MS);
    else if (this.#fullest().unsaved > 0) this.#schedule(FLUSH_DELAY_MS);
  }

  #fullest(): ViewTable {
    return this.#tables().reduce((most, table) => (table.unsaved > most.unsaved ? table : most));
  }

  #save(tables: readonly ViewTable[]): void {
    try {
      this.#store.save(tables);
      this.#lastError = undefined;
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.#lastError = error.message;
    }
  }
}
