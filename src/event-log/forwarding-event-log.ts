import type {
  Appended,
  CallTimes,
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

/** Forwards all calls to another log: the base class of decorators. */
export abstract class ForwardingEventLog implements EventLog {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ): Promise<Appended> {
    return this.#log.append(stream, expected, events, options);
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

  ready(): Promise<void> {
    return this.#log.ready();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#log[Symbol.asyncDispose]());
  }
}
