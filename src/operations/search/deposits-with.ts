import type { EventLog } from '../../event-log/event-log.ts';
import { openStoreToRead } from '../../service/backends/open-audits.ts';
import { ProgressBars } from '../../tools/terminal/progress-bar.ts';
import type { EngineSettings } from '../command/service-engines.ts';
import { type FoundEvent, type SearchConditions, type SearchOptions, searchLog } from './search-log.ts';
import type { SearchTerm } from './search-term.ts';

/** Resolves to the ids of the deposits that have an event with the term, in ascending order. Reads the log once. */
export async function depositsWith(
  log: EventLog,
  config: EngineSettings,
  term: SearchTerm,
  onUnread: SearchOptions['onUnread'],
): Promise<number[]> {
  const ids = new Set<number>();
  for await (const { depositId } of searchShown(log, config, { term }, onUnread))
    if (depositId !== null) ids.add(depositId);
  return [...ids].toSorted((one, other) => one - other);
}

/** Yields what {@link searchLog} finds, and shows its progress. Opens the object store of the settings if it is needed. */
export async function* searchShown(
  log: EventLog,
  config: EngineSettings,
  conditions: SearchConditions,
  onUnread: SearchOptions['onUnread'],
): AsyncGenerator<FoundEvent> {
  await using stores = new AsyncDisposableStack();
  using bars = new ProgressBars();
  yield* searchLog(log, conditions, {
    openStore: async () => stores.use(await openStoreToRead(config)),
    onUnread,
    progress: (events) => bars.at('events read', events),
  });
}
