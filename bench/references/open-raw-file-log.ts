import type { EventLogConfig } from '../../src/config.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { RawFileLog } from './raw-file-log.ts';

export { openDeliveries } from '../../src/event-log/open-event-log.ts';

/** In the place of the one of the same name in src/event-log/. */
export function openEventLog(config: EventLogConfig): Promise<EventLog> {
  if (config.kind !== 'sqlite') throw new Error('Only the embedded log is replaced.');
  return RawFileLog.open(`${config.file}.raw`);
}
