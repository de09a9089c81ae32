import type { SeenEvent } from '../../event-log/event-log.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import type { ViewValues } from '../view.ts';
import type { ViewChanges } from './change-writer.ts';

/** A batch handed to a writer, which must call `written()` or `notWritten()` when done. */
export type FlushBatch = {
  readonly changes: ViewChanges;
  readonly written: () => void;
  readonly notWritten: () => void;
};

/** Maximum number of cached values of a view: most are read or changed again soon. */
const RECENT = 1000;

/**
 * The values of a view file that are in memory: those that were accepted but are not in the file, and those used
 * recently. The last event is written only together with all values before it.
 */
export class ViewMemory {
  readonly #recent = new Map<string, LruCache<unknown>>();
  #unwritten = new Map<string, Map<string, unknown>>();
  #inFlight: ViewValues | undefined;
  #last: SeenEvent | undefined;
  #written: SeenEvent | undefined;

  constructor(written: SeenEvent | undefined) {
    [this.#last, this.#written] = [written, written];
  }

  get last(): SeenEvent | undefined {
    return this.#last;
  }

  get written(): SeenEvent | undefined {
    return this.#written;
  }

  /** Returns whether the file has all accepted values of the view. */
  isWritten(view: string): boolean {
    return [this.#unwritten, this.#inFlight].every((values) => (values?.get(view)?.size ?? 0) === 0);
  }

  /** The number of values of the view that has most of those that no writer has. */
  get waiting(): number {
    return mostValues(this.#unwritten);
  }

  /** The number of values that are not in the file, those that a writer has included. */
  get unwritten(): number {
    return this.waiting + mostValues(this.#inFlight ?? new Map());
  }

  /** Returns a value from memory, else from the file, and remembers it if no other connection writes the file. */
  get(view: string, key: string, readFromFile: () => unknown, remember: boolean): unknown {
    const recent = this.#recentOf(view);
    const known = recent.get(key);
    if (known !== undefined) return known;
    const accepted = [this.#unwritten, this.#inFlight].find((values) => values?.get(view)?.has(key));
    if (accepted) return accepted.get(view)?.get(key);
    const value = readFromFile();
    if (remember && value !== undefined) recent.set(key, value);
    return value;
  }

  /**
   * Accepts values as they are after the events up to `last`. Readers see them at once; {@link ViewFile.save} writes
   * them. If that never happens, they are read from the log again.
   */
  take(values: ViewValues, { id, stream, revision, position }: SeenEvent): void {
    for (const [view, byKey] of values) {
      const [recent, unwritten] = [this.#recentOf(view), this.#unwritten.getOrInsert(view, new Map())];
      for (const [key, value] of byKey) {
        unwritten.set(key, value);
        if (value === undefined) recent.delete(key);
        else recent.set(key, value);
      }
    }
    this.#last = { id, stream, revision, position };
  }

  /**
   * Returns the batch to write, or `undefined` if there are no changes. Only one batch may be in flight: otherwise an
   * earlier batch could overwrite a later one.
   */
  handOver(): FlushBatch | undefined {
    const [values, last] = [this.#unwritten, this.#last];
    if (this.#inFlight) throw new Error('Views are being written already.');
    if (last === undefined || last.position === this.#written?.position) return undefined;
    const changes = { views: Array.from(values, ([view, byKey]) => [view, rowsOf(byKey)] as const), last };
    [this.#inFlight, this.#unwritten] = [values, new Map()];
    const isInFlight = () => this.#inFlight === values;
    const written = () => {
      if (!isInFlight()) return;
      this.#inFlight = undefined;
      this.#written = last;
    };
    const notWritten = () => {
      if (isInFlight()) this.takeBack();
    };
    return { changes, written, notWritten };
  }

  /** Makes what is in flight part of the next batch, which may be written before that in flight or after it. */
  takeBack(): void {
    const [values, since, last] = [this.#inFlight, this.#unwritten, this.#last];
    if (!values || !last) return;
    [this.#inFlight, this.#unwritten] = [undefined, new Map()];
    for (const changes of [values, since]) this.take(changes, last);
  }

  clear(): void {
    this.#recent.clear();
    this.#unwritten.clear();
    [this.#last, this.#written] = [undefined, undefined];
  }

  #recentOf(view: string): LruCache<unknown> {
    return this.#recent.getOrInsertComputed(view, () => new LruCache(RECENT));
  }
}

function mostValues(values: ViewValues): number {
  return [...values.values()].reduce((most, { size }) => Math.max(most, size), 0);
}

function rowsOf(values: ReadonlyMap<string, unknown>): ViewChanges['views'][number][1] {
  return Array.from(values, ([key, value]) => [key, value === undefined ? null : JSON.stringify(value)]);
}
