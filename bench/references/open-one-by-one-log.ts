import type { EventLogConfig } from '../../src/config/config.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { OneByOneLog } from './one-by-one-log.ts';

export * from '../../src/service/backends/open-event-log.ts';

/** Replaces the function of the same name in src/event-log/. */
export function openEventLog(config: EventLogConfig): Promise<EventLog> {
  if (config.kind !== 'sqlite') throw new Error('Only the embedded log is replaced.');
  return OneByOneLog.open(config.file);
}
