import { withTimeout } from '../../../tools/concurrency/with-timeout.ts';
import type { ConsumerSession, GroupMessage } from './consumer-session.ts';

type Held = { message: GroupMessage; session: ConsumerSession; parts: number };

/**
 * Tracks the events that this node has delivered and not acknowledged. The same event may arrive again while it is in
 * work, after a lost connection or a time-out of the server. It is not delivered twice at the same time, and the newest
 * copy is acknowledged.
 */
export class InFlight {
  readonly #held = new Map<string, Held>();
  #settled = () => {};

  get size(): number {
    return this.#held.size;
  }

  /**
   * Registers a copy of an event that `parts` receivers have to process. Returns a function that each of them calls
   * when done. Returns `undefined` for another copy of an event that is in work or done, and for one that no receiver
   * has to process; one that is done, or that none has to process, is acknowledged at once.
   */
  take(message: GroupMessage, session: ConsumerSession, parts: number): (() => Promise<void>) | undefined {
    const known = this.#held.get(message.event.id);
    if (known) {
      Object.assign(known, { message, session });
      if (known.parts === 0) void this.#settle(known);
      return undefined;
    }
    if (parts === 0) {
      void session.acknowledge(message);
      return undefined;
    }
    const held: Held = { message, session, parts };
    this.#held.set(message.event.id, held);
    return async () => {
      held.parts -= 1;
      if (held.parts > 0) return;
      await this.#settle(held);
      if (this.#isIdle) this.#settled();
    };
  }

  /**
   * Removes done events whose connection was lost and that did not arrive again through `session`: another node has
   * them.
   */
  forgetUnlessFrom(session: ConsumerSession): void {
    for (const [id, held] of this.#held) {
      if (held.parts === 0 && held.session !== session) this.#held.delete(id);
    }
  }

  /** Resolves when no event is in work, or after `milliseconds`. */
  async settled(milliseconds: number): Promise<void> {
    if (this.#isIdle) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = resolve;
    await withTimeout(promise, milliseconds);
  }

  get #isIdle(): boolean {
    return this.#held.values().every(({ parts }) => parts === 0);
  }

  /** Acknowledges an event. Without a connection it stays here, and is acknowledged when it arrives again. */
  async #settle({ message, session }: Held): Promise<void> {
    if (await session.acknowledge(message)) this.#held.delete(message.event.id);
  }
}
