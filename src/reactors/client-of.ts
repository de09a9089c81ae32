import { deposits } from '../domain/aggregates.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';

/** Whose deposit an event is about: the first event of its stream tells. */
export async function clientOf(log: EventLog, { stream }: RecordedEvent): Promise<string> {
  for await (const stored of log.readStream(stream, { limit: 1 })) {
    const first = deposits.codec.read(stored);
    if (first.type === 'DepositCreated') return first.data.client;
  }
  return stream;
}
