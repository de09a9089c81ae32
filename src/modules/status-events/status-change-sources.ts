import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import {
  isLastChange,
  isStatusChange,
  type StatusChange,
  StatusChangeReader,
  statusChangeAt,
} from '../../deposits/status-change.ts';
import { deposits } from '../../domain/aggregates.ts';
import {
  type EventLog,
  occurredAt,
  type Position,
  type RecordedEvent,
  StaleRead,
} from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import type { View } from '../../views/view.ts';
import { knownOwner, mayConcern, type OpenStream } from './event-streams.ts';

/** Source of the status changes of a stream, in order. */
export interface StatusChangeSource {
  /** Yields the changes since the last call, each with a token from which the stream resumes after it. */
  more(): AsyncIterable<{ readonly token: string; readonly change: StatusChange }>;
  /** Token of the current position, if it is known to be later than the last change. */
  readonly token: string | undefined;
  /** Whether no change follows soon or ever. */
  readonly isOver: boolean;
}

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
    return this.#last !== undefined && isLastChange(this.#last.event);
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

/** Age in milliseconds from which an event that its stream lacks is gone for good. A stale read is over sooner. */
const STALE_FOR_MS = 3_600_000;
/** Changes that a stream examines in one turn of the event loop: a page of them would delay other requests. */
const CHANGES_PER_TURN = 10;

type CollectionStatusChangesOptions = {
  readonly log: EventLog;
  readonly statuses: View<DepositStatusView>;
  readonly client: string;
  readonly collection: string;
  /** Stream that this source feeds; it knows positions without matching changes. */
  readonly stream: OpenStream;
  readonly after: Position | undefined;
  /** Returns the token of a position for this client. */
  readonly toToken: (position: Position) => string;
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
    return this.#position === undefined ? undefined : this.#options.toToken(this.#position);
  }

  async *more(): AsyncGenerator<{ token: string; change: StatusChange }> {
    this.#skipAhead();
    const { log, statuses, client, collection } = this.#options;
    const options = { after: this.#position, streamPrefixes: [deposits.prefix] };
    let seen = 0;
    for await (const event of log.readAll(options)) {
      if (this.#options.stream.isClosed) return; // the position may still be sent
      this.#position = event.position;
      if (!isStatusChange(event)) continue;
      if ((seen += 1) % CHANGES_PER_TURN === 0) await clock.nextTurn();
      if (!mayConcern({ client, collection }, event, knownOwner(event, statuses))) continue;
      const change = await this.#changeAt(event);
      if (change?.deposit.client !== client || change.deposit.collection !== collection) continue;
      yield { token: this.#options.toToken(event.position), change };
    }
  }

  /** Resolves to the change by an event, unless the stream of its deposit was deleted in the engine. */
  async #changeAt(event: RecordedEvent): Promise<StatusChange | undefined> {
    try {
      return await statusChangeAt(this.#options.log, Number(event.data['depositId']), event.revision);
    } catch (error) {
      const age = clock.now() - Date.parse(occurredAt(event));
      if (error instanceof StaleRead && age > STALE_FOR_MS) return undefined;
      throw error;
    }
  }

  #skipAhead(): void {
    const { upTo } = this.#options.stream;
    if (upTo !== undefined && (this.#position === undefined || this.#position < upTo)) this.#position = upTo;
  }
}
