import { deposits } from '../domain/aggregates.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';

/** Returns the client that owns the deposit of an event, from the first event of its stream. */
export async function ownerOf(log: EventLog, { stream }: RecordedEvent): Promise<string> {
  for await (const stored of log.readStream(stream, { limit: 1 })) {
    const first = deposits.codec.read(stored);
    if (first.type === 'DepositCreated') return first.data.client;
  }
  return stream;
}
