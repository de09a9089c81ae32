import type { Logger } from '../logger.ts';
import type {
  Appended,
  EventLog,
  ExpectedRevision,
  NewEvent,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from './event-log.ts';

/** Tells the operator of every event that is appended. */
export class LoggedEventLog implements EventLog {
  readonly #log: EventLog;
  readonly #logger: Logger;

  constructor(log: EventLog, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const appended = await this.#log.append(stream, expected, events);
    for (const { type, metadata } of events) {
      this.#logger.info(
        { stream, type, actor: metadata['actor'], correlationId: metadata['$correlationId'] },
        'event',
      );
    }
    return appended;
  }

  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent> {
    return this.#log.readStream(stream, options);
  }

  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent> {
    return this.#log.readAll(options);
  }

  subscribe(options?: SubscribeOptions): AsyncIterable<SubscriptionMessage> {
    return this.#log.subscribe(options);
  }

  head(): Promise<Position | undefined> {
    return this.#log.head();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#log[Symbol.asyncDispose]());
  }
}
