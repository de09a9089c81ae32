import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { EventLog, Position, RecordedEvent } from '../../event-log/event-log.ts';
import { isNews, type NewsEvent, newsAt } from '../../news/deposit-news.ts';
import type { View } from '../../read-models/projector.ts';
import type { NewsSource } from './answer-events.ts';
import type { OpenStream } from './open-stream.ts';

export type CollectionNewsOptions = {
  readonly log: EventLog;
  readonly statuses: View<DepositStatusView>;
  readonly client: string;
  readonly collection: string;
  /** Of the stream that is told: it knows how far there has been nothing to tell. */
  readonly stream: OpenStream;
  readonly after: Position | undefined;
};

/** The news of all deposits of a client in a collection, behind a position of the log. Never over. */
export class CollectionNewsSource implements NewsSource {
  readonly isOver = false;
  readonly #options: CollectionNewsOptions;
  #position: Position | undefined;

  constructor(options: CollectionNewsOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  get token(): string | undefined {
    this.#skip();
    return this.#position;
  }

  async *more(): AsyncGenerator<{ token: string; news: NewsEvent }> {
    this.#skip();
    const { log, client, collection } = this.#options;
    const options = { after: this.#position, streamPrefixes: [deposits.prefix] };
    for await (const event of log.readAll(options)) {
      this.#position = event.position;
      if (this.#options.stream.isClosed) return;
      if (!isNews(event) || !this.#mayConcern(event)) continue;
      const news = await newsAt(log, Number(event.data['depositId']), event.revision);
      if (news?.deposit.client !== client || news.deposit.collection !== collection) continue;
      yield { token: event.position, news };
    }
  }

  /** What the view does not know, it does not know yet or not any more. */
  #mayConcern({ data }: RecordedEvent): boolean {
    const { statuses, client, collection } = this.#options;
    const deposit = statuses.get(String(Number(data['depositId'])));
    return !deposit || (deposit.client === client && deposit.collection === collection);
  }

  #skip(): void {
    const { upTo } = this.#options.stream;
    if (upTo !== undefined && (this.#position === undefined || this.#position < upTo)) this.#position = upTo;
  }
}
