import { clock } from '../../tools/clock.ts';
import { ViewUnavailable, ViewWriterLost } from '../view-unavailable.ts';
import type { SqliteViewStore } from './sqlite-view-store.ts';
import { ViewWriter } from './view-writer.ts';

/** Number of unwritten values of one view up to which this thread writes them: it takes about a millisecond. */
const FEW_VALUES = 4;
/** Numbers of unwritten values of one view at which they are written at once, and at which no further events are applied. */
const [BATCH_VALUES, MAX_UNSAVED] = [500, 1000];
/** Least and most milliseconds until changes are written: the longer a write takes, the more changes share the next one. */
const [MIN_DELAY_MS, MAX_DELAY_MS] = [50, 500];
/** The most of the time that writing takes, before changes wait for longer. */
const WRITING_SHARE = 0.1;
/** Milliseconds between writes of positions that changed no view. */
const POSITIONS_INTERVAL_MS = 1000;
/** Size of a file from which on its indexes and counters are created in the thread. */
const LARGE_BYTES = 4 * 1024 ** 2;
/** Milliseconds until a failed write is repeated. */
const RETRY_DELAY_MS = 500;

/**
 * Writes views with a short delay after the events: many changes share a transaction, and of several changes of one
 * value only the last is written. A crash loses no data: unwritten changes are read from the log again. Many changes
 * are written by a thread of their own, so that requests do not wait for the disk.
 */
export class FlushScheduler {
  readonly #store: SqliteViewStore;
  readonly #stopped: AbortSignal;
  readonly #failed: (error: unknown) => void;
  #writer: ViewWriter | undefined;
  #writing: Promise<void> | undefined;
  #lastError: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #savedAt = 0;
  #delay = MIN_DELAY_MS;

  /** @param failed called with an error other than a full disk, when no caller awaits the write. */
  constructor(store: SqliteViewStore, stopped: AbortSignal, failed: (error: unknown) => void) {
    this.#store = store;
    this.#stopped = stopped;
    this.#failed = failed;
    store.settleBy(() => this.#settle());
  }

  /** The reason why views cannot be written at the moment; `undefined` when there is no error. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Whether no further events must be applied for now: the disk accepts no writes, and a view is at its limit. */
  get isFull(): boolean {
    return this.#lastError !== undefined && this.#store.file.memory.unwritten >= MAX_UNSAVED;
  }

  /** Must be called after events were applied. Resolves once others may be applied, or the disk accepts no writes. */
  async changed(): Promise<void> {
    if (this.#lastError === undefined && this.#store.file.memory.waiting >= BATCH_VALUES) this.#write();
    this.#schedule();
    if (this.#store.file.memory.waiting >= MAX_UNSAVED) await this.#writing;
  }

  /**
   * Writes all changes, then creates the missing indexes and counters; those of a large file in the thread, since that
   * takes a minute for a million deposits, and again if the thread ends. No event may be applied meanwhile. Resolves to
   * `false` if a stop ends it, between two views.
   */
  async addLookups(): Promise<boolean> {
    await this.#writing;
    const isLarge = this.#store.file.size >= LARGE_BYTES;
    const adding = isLarge ? this.#addLookupsInThread() : Promise.try(() => this.#store.file.addLookups());
    this.#writing = adding
      .catch(() => undefined) // thrown below
      .finally(() => {
        this.#writing = undefined;
      });
    await adding;
    return !this.#stopped.aborted;
  }

  /** Resolves when events may be applied again, or when the scheduler is stopped. */
  async waitForSpace(): Promise<void> {
    while (this.isFull && !this.#stopped.aborted) {
      await clock.sleep(RETRY_DELAY_MS, this.#stopped).catch(() => undefined);
    }
  }

  /** Writes all remaining changes, if the disk accepts them. */
  async end(): Promise<void> {
    clock.clearTimeout(this.#timer);
    await this.#writing;
    try {
      this.#save();
    } finally {
      await this.#writer?.[Symbol.asyncDispose]();
    }
  }

  /** Resolves once all that was accepted until now is written, or the disk does not accept it. */
  async #settle(): Promise<void> {
    await this.#writing;
    if (this.#store.file.memory.waiting > FEW_VALUES) this.#write();
    else if (this.#store.file.memory.waiting > 0) this.#save();
    await this.#writing;
  }

  #schedule(): void {
    const delay = this.#lastError === undefined ? this.#delay : RETRY_DELAY_MS;
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
    const { waiting } = this.#store.file.memory;
    if (waiting > FEW_VALUES) return this.#write();
    if (this.#writing) return; // it schedules the next write
    const isTimeForPosition = clock.monotonic() - this.#savedAt >= POSITIONS_INTERVAL_MS;
    if (waiting > 0 || isTimeForPosition) this.#save();
    if (this.#lastError !== undefined) this.#schedule();
  }

  #save(): void {
    this.#savedAt = clock.monotonic();
    this.#delay = MIN_DELAY_MS;
    try {
      this.#store.file.save();
      this.#lastError = undefined;
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.#lastError = error.message;
    }
  }

  /** Begins to write in the thread, unless it is writing: what is accepted meanwhile is written next. */
  #write(): void {
    this.#writing ??= this.#writeInThread()
      .catch(this.#failed)
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #addLookupsInThread(): Promise<void> {
    const writer = this.#writerOfStore();
    while (!this.#stopped.aborted) {
      try {
        await writer.write();
        await writer.addLookups(this.#stopped);
        this.#lastError = undefined;
        return;
      } catch (error) {
        if (this.#stopped.aborted) return;
        if (!(error instanceof ViewWriterLost)) throw error;
        this.#lastError = error.message;
        await clock.sleep(RETRY_DELAY_MS, this.#stopped).catch(() => undefined);
      }
    }
  }

  async #writeInThread(): Promise<void> {
    const begun = clock.monotonic();
    this.#savedAt = begun;
    try {
      await this.#writerOfStore().write();
      this.#lastError = undefined;
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.#lastError = error.message;
    }
    const fitting = (clock.monotonic() - begun) / WRITING_SHARE;
    this.#delay = Math.min(Math.max(fitting, MIN_DELAY_MS), MAX_DELAY_MS);
    if (this.#store.file.memory.waiting > 0 && !this.#stopped.aborted) this.#schedule();
  }

  /** Returns the writer of the generation in use. */
  #writerOfStore(): ViewWriter {
    const { file } = this.#store;
    if (this.#writer?.file !== file) {
      void this.#writer?.[Symbol.asyncDispose]();
      this.#writer = new ViewWriter(file, 'served');
    }
    return this.#writer;
  }
}
