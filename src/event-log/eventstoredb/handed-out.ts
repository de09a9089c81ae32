import { inTime } from '../../in-time.ts';
import type { ConsumerSession, GroupMessage } from './consumer-session.ts';

type Held = { message: GroupMessage; session: ConsumerSession; parts: number };

/**
 * The events that this node has handed out and not acknowledged. The same event may come again while it is in work,
 * after a lost connection or a time-out of the server: it is not handed out twice at the same time, and the newest
 * copy is the one that is acknowledged.
 */
export class HandedOut {
  readonly #held = new Map<string, Held>();
  #settled = () => {};

  get size(): number {
    return this.#held.size;
  }

  /**
   * Takes a copy of an event that `parts` receivers have to be done with. Returns what each of them calls when it is;
   * `undefined` for another copy of an event that is in work or done. A done one is acknowledged at once.
   */
  take(message: GroupMessage, session: ConsumerSession, parts: number): (() => Promise<void>) | undefined {
    const known = this.#held.get(message.event.id);
    if (known) {
      Object.assign(known, { message, session });
      if (known.parts === 0) void this.#settle(known);
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

  /** Forgets what was done when its connection was lost and did not come again through `session`: another node has it. */
  forgetUnlessFrom(session: ConsumerSession): void {
    for (const [id, held] of this.#held) {
      if (held.parts === 0 && held.session !== session) this.#held.delete(id);
    }
  }

  /** Resolves when nothing is in work, after `milliseconds` at the latest. */
  async settled(milliseconds: number): Promise<void> {
    if (this.#isIdle) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = resolve;
    await inTime(promise, milliseconds);
  }

  get #isIdle(): boolean {
    return this.#held.values().every(({ parts }) => parts === 0);
  }

  /** Without a connection it cannot be acknowledged; it is when it comes again. */
  async #settle({ message, session }: Held): Promise<void> {
    if (await session.acknowledge(message)) this.#held.delete(message.event.id);
  }
}
