import type { Config } from '../../src/config/config.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { RawFileLog } from './raw-file-log.ts';

export * from '../../src/service/backends/open-log.ts';

/** Replaces the function of the same name in src/service/backends/. */
export function openLog({ eventLog }: Pick<Config, 'eventLog'>): Promise<EventLog> {
  if (eventLog.kind !== 'sqlite') throw new Error('Only the embedded log is replaced.');
  return RawFileLog.open(`${eventLog.file}.raw`);
}
