import type { EventLog } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import { RepeatedFaults } from '../../tools/repeated-faults.ts';

const REPEAT_AFTER_MS = 86_400_000;

/**
 * Deposits whose stream cannot be read, as after an operator has deleted it in the engine: one must not hide the others.
 * Logs each when a sweep finds it first, when the reason is another one, and once a day while that lasts.
 */
export class UnreadableDeposits {
  readonly #log: Pick<EventLog, 'head'>;
  readonly #logger: Logger;
  readonly #faults = new RepeatedFaults<number>(REPEAT_AFTER_MS);
  readonly #found = new Set<number>();

  constructor(log: Pick<EventLog, 'head'>, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /**
   * Resolves to what `read` returns about one deposit. Requests are served first: reading the embedded log occupies the
   * event loop.
   * @throws {EventLogUnavailable} the log cannot be read at all
   */
  async tryRead<Found>(depositId: number, read: () => Promise<Found>): Promise<Found | 'unreadable'> {
    await clock.nextTurn();
    try {
      return await read();
    } catch (err) {
      await this.#log.head();
      this.#found.add(depositId);
      if (this.#faults.isNews(depositId, String(err)))
        this.#logger.warn({ depositId, err }, 'deposit not swept: its stream cannot be read');
      return 'unreadable';
    }
  }

  /** Must be called after each complete sweep: what it did not find can be read again. */
  sweepEnded(): void {
    for (const depositId of this.#faults.subjects) {
      if (!this.#found.has(depositId)) this.#faults.isOver(depositId);
    }
    this.#found.clear();
  }
}
