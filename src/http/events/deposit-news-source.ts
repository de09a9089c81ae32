import type { EventLog } from '../../event-log/event-log.ts';
import { DepositNewsReader, type NewsEvent, progressAfter } from '../../news/deposit-news.ts';
import type { NewsSource } from './answer-events.ts';

/** The news of one deposit: behind a revision, or from the latest on. Over when nothing is on its way. */
export class DepositNewsSource implements NewsSource {
  readonly token = undefined;
  readonly #reader: DepositNewsReader;
  #after: number | undefined;
  #last: NewsEvent | undefined;

  constructor(log: Pick<EventLog, 'readStream'>, depositId: number, after: number | undefined) {
    this.#reader = new DepositNewsReader(log, depositId);
    this.#after = after;
  }

  get isOver(): boolean {
    return this.#last !== undefined && progressAfter(this.#last.event) !== 'goes on';
  }

  async *more(): AsyncGenerator<{ token: string; news: NewsEvent }> {
    for await (const news of this.#reader.more()) {
      this.#last = news;
      const { revision } = news.event;
      if (this.#after !== undefined && revision > this.#after) yield { token: String(revision), news };
    }
    if (this.#after === undefined && this.#last) {
      yield { token: String(this.#last.event.revision), news: this.#last };
    }
    this.#after = this.#reader.revision;
  }
}
