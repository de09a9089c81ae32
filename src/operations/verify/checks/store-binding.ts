import { EventLogUnavailable } from '../../../event-log/event-log.ts';
import type { LogAudit } from '../../../event-log/integrity/log-audit.ts';
import { ObjectStoreUnavailable, type StoreAudit, StoreDamaged } from '../../../object-store/object-store.ts';
import { assertSameId, BINDINGS, OtherStore, storeIdOf } from '../../../service/backends/store-binding.ts';
import type { Check } from '../report.ts';

/** Errors for which a service ends its start. */
const START_ERRORS = [OtherStore, StoreDamaged, ObjectStoreUnavailable, EventLogUnavailable];

/** Notes that no service starts on both, since log and store have different ids, as a copy of the objects may have. */
export function storeBindingCheck(log: Pick<LogAudit, 'stream'>, store: Pick<StoreAudit, 'id'>): Check {
  return async (report) => {
    try {
      assertSameId(await boundStoreOf(log), await store.id());
    } catch (error) {
      if (!START_ERRORS.some((kind) => error instanceof kind)) throw error;
      report.notes.push(`No service would start on this log and this store: ${(error as Error).message}`);
    }
  };
}

async function boundStoreOf(log: Pick<LogAudit, 'stream'>): Promise<string | undefined> {
  let bound: string | undefined;
  for await (const record of log.stream(BINDINGS)) {
    if (record.kind === 'event') bound = storeIdOf(record.event); // others are reported when the whole log is read
  }
  return bound;
}
