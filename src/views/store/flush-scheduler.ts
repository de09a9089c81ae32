import { clock } from '../../tools/clock.ts';
import { ViewUnavailable } from '../view-unavailable.ts';
import type { SqliteViewStore } from './sqlite-view-store.ts';

/** Number of unwritten values of one view that triggers a write, which blocks requests for some milliseconds. */
const BATCH_VALUES = 32;
/** Number of unwritten values of one view at which no further events are applied, while the disk accepts no writes. */
const MAX_UNSAVED = 1000;
/** Milliseconds until changes are written, and between writes of positions that changed no view. */
const [FLUSH_DELAY_MS, POSITIONS_INTERVAL_MS] = [50, 1000];
/** Milliseconds until a failed write is repeated. */
const RETRY_DELAY_MS = 500;

/**
 * Writes views with a short delay after the events: many changes share a transaction, and of several changes
 * of one value only the last is written. A crash loses no data: unwritten changes are read from the log again.
 */
export class FlushScheduler {
  readonly #store: SqliteViewStore;
  readonly #stopped: AbortSignal;
  readonly #failed: (error: unknown) => void;
  #lastError: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #savedAt = 0;

  /** @param failed called with an error other than a full disk, when no caller awaits the write. */
  constructor(store: SqliteViewStore, stopped: AbortSignal, failed: (error: unknown) => void) {
    this.#store = store;
    this.#stopped = stopped;
    this.#failed = failed;
  }

  /** The reason why views cannot be written at the moment; `undefined` when there is no error. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Whether no further events must be applied for now: the disk accepts no writes, and a view is at its limit. */
  get isFull(): boolean {
    return this.#lastError !== undefined && this.#store.file.unsaved >= MAX_UNSAVED;
  }

  /** Must be called after events were applied. */
  changed(): void {
    if (this.#lastError === undefined && this.#store.file.unsaved >= BATCH_VALUES) this.#save();
    this.#schedule();
  }

  /** Resolves when events may be applied again, or when the scheduler is stopped. */
  async waitForSpace(): Promise<void> {
    while (this.isFull && !this.#stopped.aborted) {
      await clock.sleep(RETRY_DELAY_MS, this.#stopped).catch(() => undefined);
    }
  }

  /** Writes all remaining changes, if the disk accepts them. */
  end(): void {
    clock.clearTimeout(this.#timer);
    this.#save();
  }

  #schedule(): void {
    const delay = this.#lastError === undefined ? FLUSH_DELAY_MS : RETRY_DELAY_MS;
    this.#timer ??= clock.setTimeout(() => {
      this.#timer = undefined;
      try {
        this.#saveIfDue();
      } catch (error) {
        this.#failed(error);
      }
    }, delay);
  }

  #saveIfDue(): void {
    const isTimeForPosition = clock.monotonic() - this.#savedAt >= POSITIONS_INTERVAL_MS;
    if (this.#store.file.unsaved > 0 || isTimeForPosition) this.#save();
    if (this.#lastError !== undefined) this.#schedule();
  }

  #save(): void {
    this.#savedAt = clock.monotonic();
    try {
      this.#store.file.save();
      this.#lastError = undefined;
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.#lastError = error.message;
    }
  }
}
