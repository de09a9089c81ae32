import type { Appended, CallTimes, ExpectedRevision, NewEvent } from '../../event-log/event-log.ts';
import { ForwardingEventLog } from '../../event-log/forwarding-event-log.ts';
import { inSpan } from '../../tools/span.ts';

/** Wraps each append in a span. */
export class TracedEventLog extends ForwardingEventLog {
  override append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ): Promise<Appended> {
    const types = events.map(({ type }) => type);
    const attributes = { 'deposit.stream': stream, 'deposit.event_types': types };
    return inSpan('append', { attributes }, () => super.append(stream, expected, events, options));
  }
}
