import type { Logger } from '../tools/logger.ts';
import type { Appended, CallTimes, EventLog, ExpectedRevision, NewEvent } from './event-log.ts';
import { ForwardingEventLog } from './forwarding-event-log.ts';

/** Writes a log message for every event that is appended. */
export class LoggedEventLog extends ForwardingEventLog {
  readonly #logger: Logger;

  constructor(log: EventLog, logger: Logger) {
    super(log);
    this.#logger = logger;
  }

  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ): Promise<Appended> {
    const appended = await super.append(stream, expected, events, options);
    for (const { type, metadata } of events) {
      this.#logger.info(
        { stream, type, actor: metadata['actor'], correlationId: metadata['$correlationId'] },
        'event',
      );
    }
    return appended;
  }
}
