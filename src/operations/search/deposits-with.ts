import type { EventLog } from '../../event-log/event-log.ts';
import { openExistingStore } from '../../service/backends/open-backends.ts';
import { ProgressBars } from '../../tools/terminal/progress-bar.ts';
import type { EngineSettings } from '../command/service-engines.ts';
import { searchLog } from './search-log.ts';
import type { SearchTerm } from './search-term.ts';

/** Resolves to the ids of the deposits that have an event with the term, in ascending order. Reads the log once. */
export async function depositsWith(
  log: EventLog,
  config: EngineSettings,
  term: SearchTerm,
): Promise<number[]> {
  await using stores = new AsyncDisposableStack();
  using bars = new ProgressBars();
  const options = {
    openStore: async () => stores.use(await openExistingStore(config)),
    progress: (events: number) => bars.at('events read', events),
  };
  const ids = new Set<number>();
  for await (const { depositId } of searchLog(log, { term }, options))
    if (depositId !== null) ids.add(depositId);
  return [...ids].toSorted((one, other) => one - other);
}
