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
} from '../event-log/event-log.ts';
import { inSpan } from './span.ts';

/** Each append is a span. */
export class TracedEventLog implements EventLog {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const types = events.map(({ type }) => type);
    const attributes = { 'deposit.stream': stream, 'deposit.event_types': types };
    return inSpan('append', { attributes }, () => this.#log.append(stream, expected, events));
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
