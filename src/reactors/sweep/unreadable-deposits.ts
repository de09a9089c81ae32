import type { Logger } from '../../tools/logger.ts';
import { RepeatedFaults } from '../../tools/repeated-faults.ts';

const REPEAT_AFTER_MS = 86_400_000;

/**
 * Logs each deposit whose stream cannot be read: when a sweep finds it first, when the reason is another one, and once
 * a day while that lasts.
 */
export class UnreadableDeposits {
  readonly #logger: Logger;
  readonly #faults = new RepeatedFaults<number>(REPEAT_AFTER_MS);
  readonly #found = new Set<number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  found(depositId: number, err: unknown): void {
    this.#found.add(depositId);
    if (this.#faults.isNews(depositId, String(err)))
      this.#logger.warn({ depositId, err }, 'deposit not swept: its stream cannot be read');
  }

  /** Must be called after each complete sweep: what it did not find can be read again. */
  sweepEnded(): void {
    for (const depositId of this.#faults.subjects) {
      if (!this.#found.has(depositId)) this.#faults.isOver(depositId);
    }
    this.#found.clear();
  }
}
