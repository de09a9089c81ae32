import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { isStatusChange, type StatusChange, statusChangeAt } from '../../deposits/status-change.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { EventLog, Position, RecordedEvent } from '../../event-log/event-log.ts';
import type { View } from '../../views/view.ts';
import type { StatusChangeSource } from './answer-events.ts';
import type { OpenStream } from './open-stream.ts';

export type CollectionStatusChangesOptions = {
  readonly log: EventLog;
  readonly statuses: View<DepositStatusView>;
  readonly client: string;
  readonly collection: string;
  /** Stream that this source feeds; it knows positions without matching changes. */
  readonly stream: OpenStream;
  readonly after: Position | undefined;
};

/** Status changes of all deposits of a client in a collection, after a position of the log. Never over. */
export class CollectionStatusChanges implements StatusChangeSource {
  readonly isOver = false;
  readonly #options: CollectionStatusChangesOptions;
  #position: Position | undefined;

  constructor(options: CollectionStatusChangesOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  get token(): string | undefined {
    this.#skipAhead();
    return this.#position;
  }

  async *more(): AsyncGenerator<{ token: string; change: StatusChange }> {
    this.#skipAhead();
    const { log, client, collection } = this.#options;
    const options = { after: this.#position, streamPrefixes: [deposits.prefix] };
    for await (const event of log.readAll(options)) {
      this.#position = event.position;
      if (this.#options.stream.isClosed) return;
      if (!isStatusChange(event) || !this.#mayConcern(event)) continue;
      const change = await statusChangeAt(log, Number(event.data['depositId']), event.revision);
      if (change?.deposit.client !== client || change.deposit.collection !== collection) continue;
      yield { token: event.position, change };
    }
  }

  /** Returns whether the event may be of this collection. The view may not know the deposit yet, or no longer. */
  #mayConcern({ data }: RecordedEvent): boolean {
    const { statuses, client, collection } = this.#options;
    const deposit = statuses.get(String(Number(data['depositId'])));
    return !deposit || (deposit.client === client && deposit.collection === collection);
  }

  #skipAhead(): void {
    const { upTo } = this.#options.stream;
    if (upTo !== undefined && (this.#position === undefined || this.#position < upTo)) this.#position = upTo;
  }
}
