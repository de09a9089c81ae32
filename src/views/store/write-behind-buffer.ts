import type { Position } from '../../event-log/event-log.ts';
import type { EventRef } from '../view-store.ts';
import { toChanges, type ViewChanges } from './view-statements.ts';

/** A batch handed to a writer, which must call `written()` or `notWritten()` when done. */
export type FlushBatch = {
  readonly changes: ViewChanges;
  readonly written: () => void;
  readonly notWritten: () => void;
};

/**
 * Buffers the changes that a table has accepted but its file does not have. A position is written only
 * together with all changes before it.
 */
export class WriteBehindBuffer {
  #views = new Map<string, unknown>();
  #inFlight: ReadonlyMap<string, unknown> | undefined;
  #last: EventRef | undefined;
  #written: Position | undefined;

  constructor(written: Position | undefined) {
    this.#written = written;
  }

  /** Position up to which changes were accepted. */
  get position(): Position | undefined {
    return this.#last?.position ?? this.#written;
  }

  /** The event accepted last, if there is one. */
  get last(): EventRef | undefined {
    return this.#last;
  }

  /** Position up to which changes are written. */
  get written(): Position | undefined {
    return this.#written;
  }

  get size(): number {
    return this.#views.size;
  }

  has(key: string): boolean {
    return this.#views.has(key) || this.#inFlight?.has(key) === true;
  }

  get(key: string): unknown {
    return this.#views.has(key) ? this.#views.get(key) : this.#inFlight?.get(key);
  }

  take(key: string, view: unknown): void {
    this.#views.set(key, view);
  }

  moveTo({ id, stream, revision, position }: EventRef): void {
    this.#last = { id, stream, revision, position };
  }

  /**
   * Returns the batch to write, or `undefined` if there are no changes. Only one batch may be in flight:
   * otherwise an earlier batch could overwrite a later one.
   */
  handOver(): FlushBatch | undefined {
    const [views, last] = [this.#views, this.#last];
    if (this.#inFlight) throw new Error('Views are being written already.');
    if (last === undefined || last.position === this.#written) return undefined;
    const changes = toChanges(views, last);
    [this.#inFlight, this.#views] = [views, new Map()];
    const written = () => {
      this.#inFlight = undefined;
      this.#written = last.position;
    };
    const notWritten = () => {
      this.#inFlight = undefined;
      this.#views = this.#views.size === 0 ? views : new Map([...views, ...this.#views]);
    };
    return { changes, written, notWritten };
  }

  clear(): void {
    this.#views.clear();
    [this.#last, this.#written] = [undefined, undefined];
  }
}
