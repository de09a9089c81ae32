import { inTime } from '../../in-time.ts';
import type { ConsumerSession, GroupMessage } from './consumer-session.ts';

type Held = { message: GroupMessage; session: ConsumerSession; isDone: boolean };

/**
 * What a receiver has handed out. The same event may come again while it is worked on, after a lost connection or
 * a time-out of the server: it is not handed out twice at the same time, and what is acknowledged is its newest copy.
 */
export class HandedOut {
  readonly #held = new Map<string, Held>();
  #settled = () => {};

  /** Nothing is being worked on. */
  get isEmpty(): boolean {
    return [...this.#held.values()].every(({ isDone }) => isDone);
  }

  /** False for another copy of what is being worked on or was done; the latter is acknowledged. */
  isNew(message: GroupMessage, session: ConsumerSession): boolean {
    const held = this.#held.get(message.event.id);
    if (!held) return true;
    Object.assign(held, { message, session });
    if (held.isDone) void this.#settle(held);
    return false;
  }

  /** Returns what acknowledges it. */
  add(message: GroupMessage, session: ConsumerSession): () => Promise<void> {
    const held = { message, session, isDone: false };
    this.#held.set(message.event.id, held);
    return async () => {
      held.isDone = true;
      await this.#settle(held);
      if (this.isEmpty) this.#settled();
    };
  }

  /** What was done when its connection was gone, and did not come again through `session`, is with another node. */
  forgetUnlessFrom(session: ConsumerSession): void {
    for (const [id, held] of this.#held) {
      if (held.isDone && held.session !== session) this.#held.delete(id);
    }
  }

  /** Resolves when nothing is worked on any more, after `patience` milliseconds at the latest. */
  async settled(patience: number): Promise<void> {
    if (this.isEmpty) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = resolve;
    await inTime(promise, patience);
  }

  /** Where the connection is gone it cannot be acknowledged; it is when it comes again. */
  async #settle({ message, session }: Held): Promise<void> {
    if (await session.acknowledge(message)) this.#held.delete(message.event.id);
  }
}
