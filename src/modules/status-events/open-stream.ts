import type { Position } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';

/** Scope of a subscription: one deposit, or all of a client in a collection. */
export type Subscription =
  | { readonly depositId: number }
  | { readonly client: string; readonly collection: string };

/** One open event stream. It stores no events: it is woken when there are some, and reads them from the log. */
export class OpenStream {
  readonly subscription: Subscription;
  #isWoken = true;
  #isClosed = false;
  #waiting: (() => void) | undefined;
  #upTo: Position | undefined;

  constructor(subscription: Subscription) {
    this.subscription = subscription;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Position up to which every event was sent or does not match, as far as known. */
  get upTo(): Position | undefined {
    return this.#upTo;
  }

  wake(): void {
    this.#isWoken = true;
    this.#waiting?.();
  }

  /** Records that no event up to here matches, unless it was woken meanwhile. */
  skipTo(position: Position): void {
    if (!this.#isWoken && this.#waiting) this.#upTo = position;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting?.();
  }

  /** Resolves when it is woken or closed, or after the timeout in milliseconds; the result says which. */
  async waitForChange(timeoutMs: number): Promise<'some' | 'none' | 'closed'> {
    if (!this.#isWoken && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      const timer = clock.setTimeout(resolve, timeoutMs);
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
