import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Logger } from '../logger.ts';

/**
 * Tells operators of a store that holds nothing beside a log that has deposits: its disk is not mounted, say, and what
 * is stored from now on will lie where nobody looks once it is.
 */
export async function tellOfEmptyStore(log: EventLog, store: ArchiveStore, logger: Logger): Promise<void> {
  if (!(await isEmpty(store))) return;
  for await (const { stream } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    const reason = `The event log has ${stream}, the archive store holds nothing: stop the service and bring the archives back.`;
    return logger.error({ reason }, 'the archive store is empty');
  }
}

async function isEmpty(store: ArchiveStore): Promise<boolean> {
  try {
    for await (const _object of store.list()) return false;
    return true;
  } catch {
    return false; // it is damaged where it begins: what can be read is served all the same
  }
}
