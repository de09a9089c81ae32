import { clock } from '../../tools/clock.ts';
import type { SqlitePages } from './pages.ts';

/**
 * Detects commits of other processes with one timer, which runs only while there are watchers and does not
 * keep the process alive.
 */
export class ExternalCommitPoller {
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

  /** Returns the data version. An error counts as a change: the woken readers meet it and handle it. */
  #version(): number | undefined {
    try {
      return this.#pages.dataVersion();
    } catch {
      return undefined;
    }
  }
}
