import type { Position } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';

/** What somebody waits for news about: one deposit, or all of a client in a collection. */
export type Interest =
  | { readonly depositId: number }
  | { readonly client: string; readonly collection: string };

/** One open stream of events. It holds no events: it is woken when there are some, and reads them from the log. */
export class OpenStream {
  readonly interest: Interest;
  #isWoken = true;
  #isClosed = false;
  #waiting: (() => void) | undefined;
  #upTo: Position | undefined;

  constructor(interest: Interest) {
    this.interest = interest;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** All up to here was told before or is no news for it, as far as that is known. */
  get upTo(): Position | undefined {
    return this.#upTo;
  }

  wake(): void {
    this.#isWoken = true;
    this.#waiting?.();
  }

  /** Nothing up to here concerns it, unless it has been woken meanwhile. */
  passed(position: Position): void {
    if (!this.#isWoken && this.#waiting) this.#upTo = position;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting?.();
  }

  /** Resolves when it is woken or closed, at the latest after so many milliseconds; tells which of them it was. */
  async news(patience: number): Promise<'some' | 'none' | 'closed'> {
    if (!this.#isWoken && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      const timer = clock.setTimeout(resolve, patience);
      await promise;
      clock.clearTimeout(timer);
      this.#waiting = undefined;
    }
    if (this.#isClosed) return 'closed';
    if (!this.#isWoken) return 'none';
    this.#isWoken = false;
    return 'some';
  }
}
