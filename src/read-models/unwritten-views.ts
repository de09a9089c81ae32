import type { Position } from '../event-log/event-log.ts';
import type { Seen } from './view-store.ts';
import { toChanges, type ViewChanges } from './view-writes.ts';

/** Changes on their way into a file; whoever writes them tells what became of them. */
export type HandedOver = {
  readonly changes: ViewChanges;
  readonly written: () => void;
  readonly notWritten: () => void;
};

/** What a table has taken and its file has not got: a position is never written unless all that is before it is. */
export class UnwrittenViews {
  #views = new Map<string, unknown>();
  #underWay: ReadonlyMap<string, unknown> | undefined;
  #last: Seen | undefined;
  #written: Position | undefined;

  constructor(written: Position | undefined) {
    this.#written = written;
  }

  /** Up to where the log has been taken. */
  get position(): Position | undefined {
    return this.#last?.position ?? this.#written;
  }

  /** The last event that was taken, if any was. */
  get last(): Seen | undefined {
    return this.#last;
  }

  /** Up to where it is written. */
  get written(): Position | undefined {
    return this.#written;
  }

  get size(): number {
    return this.#views.size;
  }

  has(key: string): boolean {
    return this.#views.has(key) || this.#underWay?.has(key) === true;
  }

  get(key: string): unknown {
    return this.#views.has(key) ? this.#views.get(key) : this.#underWay?.get(key);
  }

  take(key: string, view: unknown): void {
    this.#views.set(key, view);
  }

  moveTo({ id, stream, revision, position }: Seen): void {
    this.#last = { id, stream, revision, position };
  }

  /** `undefined`: there is nothing to write. One at a time: what comes later would be written over by what came before. */
  handOver(): HandedOver | undefined {
    const [views, last] = [this.#views, this.#last];
    if (this.#underWay) throw new Error('Views are being written already.');
    if (last === undefined || last.position === this.#written) return undefined;
    const changes = toChanges(views, last);
    [this.#underWay, this.#views] = [views, new Map()];
    const written = () => {
      this.#underWay = undefined;
      this.#written = last.position;
    };
    const notWritten = () => {
      this.#underWay = undefined;
      this.#views = this.#views.size === 0 ? views : new Map([...views, ...this.#views]);
    };
    return { changes, written, notWritten };
  }

  clear(): void {
    this.#views.clear();
    [this.#last, this.#written] = [undefined, undefined];
  }
}
