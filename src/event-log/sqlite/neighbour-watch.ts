import { clock } from '../../tools/clock.ts';
import type { SqlitePages } from './pages.ts';

/** Notices commits of other processes, by one timer that runs only while somebody watches and holds no process up. */
export class SqliteNeighbourWatch {
  readonly #pages: SqlitePages;
  readonly #interval: number;
  readonly #onCommit: () => void;
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;
  #seen: number | undefined;

  constructor(pages: SqlitePages, interval: number, onCommit: () => void) {
    this.#pages = pages;
    this.#interval = interval;
    this.#onCommit = onCommit;
  }

  watch(): Disposable {
    this.#watchers += 1;
    this.#timer ??= clock.setInterval(() => this.#look(), this.#interval).unref();
    return { [Symbol.dispose]: () => this.#leave() };
  }

  stop(): void {
    clock.clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #leave(): void {
    this.#watchers -= 1;
    if (this.#watchers === 0) this.stop();
  }

  #look(): void {
    const version = this.#version();
    if (version !== undefined && version === this.#seen) return;
    this.#seen = version;
    this.#onCommit();
  }

  /** A fault counts as a change: those who are woken read, and deal with it there. */
  #version(): number | undefined {
    try {
      return this.#pages.dataVersion();
    } catch {
      return undefined;
    }
  }
}
