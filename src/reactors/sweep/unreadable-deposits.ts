import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';

const REPEAT_AFTER_MS = 86_400_000;

type Logged = { readonly reason: string; readonly at: number };

/**
 * Logs each deposit whose stream cannot be read: when a sweep finds it first, when the reason is another one, and once
 * a day while that lasts.
 */
export class UnreadableDeposits {
  readonly #logger: Logger;
  readonly #logged = new Map<number, Logged>();
  readonly #found = new Set<number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  found(depositId: number, err: unknown): void {
    this.#found.add(depositId);
    const reason = String(err);
    const last = this.#logged.get(depositId);
    if (last?.reason === reason && clock.monotonic() - last.at < REPEAT_AFTER_MS) return;
    this.#logged.set(depositId, { reason, at: clock.monotonic() });
    this.#logger.warn({ depositId, err }, 'deposit not swept: its stream cannot be read');
  }

  /** Must be called after each complete sweep: what it did not find can be read again. */
  sweepEnded(): void {
    for (const depositId of this.#logged.keys()) {
      if (!this.#found.has(depositId)) this.#logged.delete(depositId);
    }
    this.#found.clear();
  }
}
