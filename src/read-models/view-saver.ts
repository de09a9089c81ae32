import { clock } from '../tools/clock.ts';
import type { ViewStore, ViewTable } from './view-store.ts';
import { ViewUnavailable } from './view-unavailable.ts';

/** Views of one table that are written together: some tenths of a millisecond, in which nobody is answered. */
const TOGETHER = 16;
/** What may be unwritten when the disk takes nothing: then views stay as they are until it does. */
const MOST_UNSAVED = 1000;
/** Milliseconds until the fullest table is written, and until positions are that changed no view. */
const [SOON, LATER] = [15, 1000];
/** Milliseconds until changes that the disk did not take are tried again. */
const AGAIN = 500;

/**
 * Writes views a little behind the log: many changes share a transaction, and of several changes of one view only
 * the last is written. A crash loses nothing: what was not written is read from the log again.
 */
export class ViewSaver {
  readonly #store: ViewStore;
  readonly #tables: () => readonly ViewTable[];
  readonly #stopped: AbortSignal;
  readonly #failed: (error: unknown) => void;
  #trouble: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #savedAll = 0;

  /** `failed` is told of a fault that is none of a full disk, when nobody waits for what is written. */
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

  /** Why views cannot be written at the moment; `undefined` when all is well. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Whether tables are to take no more for now: the disk takes nothing, and they have much. */
  get isFull(): boolean {
    return this.#trouble !== undefined && this.#fullest().unsaved >= MOST_UNSAVED;
  }

  /** Tables have taken changes. */
  changed(): void {
    if (this.#trouble === undefined && this.#fullest().unsaved >= TOGETHER) this.#save([this.#fullest()]);
    this.#schedule(this.#trouble === undefined ? SOON : AGAIN);
  }

  /** Resolves when tables may take more, or nothing is to be taken any more. */
  async room(): Promise<void> {
    while (this.isFull && !this.#stopped.aborted) {
      await clock.sleep(AGAIN, this.#stopped).catch(() => undefined);
    }
  }

  /** Writes all that is left, if the disk takes it. */
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

  /** One table at a time: requests are answered between them. Now and then also the positions of tables without changes. */
  #saveChanged(): void {
    const isTimeForAll = clock.monotonic() - this.#savedAll >= LATER;
    const others = isTimeForAll ? this.#tables().filter(({ unsaved }) => unsaved === 0) : [];
    if (isTimeForAll) this.#savedAll = clock.monotonic();
    this.#save([this.#fullest(), ...others]);
    if (this.#trouble !== undefined) this.#schedule(AGAIN);
    else if (this.#fullest().unsaved > 0) this.#schedule(SOON);
  }

  #fullest(): ViewTable {
    return this.#tables().reduce((most, table) => (table.unsaved > most.unsaved ? table : most));
  }

  #save(tables: readonly ViewTable[]): void {
    try {
      this.#store.save(tables);
      this.#trouble = undefined;
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.#trouble = error.message;
    }
  }
}
