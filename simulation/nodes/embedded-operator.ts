import type { EventLog } from '../../src/event-log/event-log.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { type Incarnation, running } from '../world/host.ts';
import { folderOf, openLogIn, openStoreIn } from './embedded-node.ts';

/** Runs work of an operator next to an embedded node, as a command does it. */
export function asEmbeddedOperator<Result>(
  process: Incarnation,
  work: (log: EventLog, openStore: () => Promise<ObjectStore>) => Promise<Result>,
): Promise<Result> {
  return running.run(process, async () => {
    const folder = folderOf(process);
    await using log = await openLogIn(folder);
    return await work(log, () => openStoreIn(folder));
  });
}
