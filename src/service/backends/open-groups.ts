import type { EventLogConfig } from '../../config/config.ts';
import { RECEIVERS } from '../../reactors/reactor-names.ts';

/** Opens the groups of the reactors. Resolves to `undefined` for a log without a server, which has no groups. */
export async function openGroups(config: EventLogConfig) {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbGroups } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-groups.ts'
  );
  return new EventStoreDbGroups({ ...config, retiredGroups: RECEIVERS });
}
