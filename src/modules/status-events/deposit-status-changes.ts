import { progressAfter, type StatusChange, StatusChangeReader } from '../../deposits/status-change.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { StatusChangeSource } from './answer-events.ts';

/** Status changes of one deposit: after a revision, or from the latest. Over when no further change is expected. */
export class DepositStatusChanges implements StatusChangeSource {
  readonly token = undefined;
  readonly #reader: StatusChangeReader;
  #after: number | undefined;
  #last: StatusChange | undefined;

  constructor(log: Pick<EventLog, 'readStream'>, depositId: number, after: number | undefined) {
    this.#reader = new StatusChangeReader(log, depositId);
    this.#after = after;
  }

  get isOver(): boolean {
    return this.#last !== undefined && progressAfter(this.#last.event) !== 'goes on';
  }

  async *more(): AsyncGenerator<{ token: string; change: StatusChange }> {
    for await (const change of this.#reader.more()) {
      this.#last = change;
      const { revision } = change.event;
      if (this.#after !== undefined && revision > this.#after) yield { token: String(revision), change };
    }
    if (this.#after === undefined && this.#last) {
      yield { token: String(this.#last.event.revision), change: this.#last };
    }
    this.#after = this.#reader.revision;
  }
}
