import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import {
  BINDINGS,
  boundStore,
  lastBinding,
  OtherStore,
  storeIdOf,
} from '../../service/backends/store-binding.ts';

/** Resolves to the event with which an earlier run of the same restore bound the log to its store. */
export async function bindingOfEarlierRun(
  source: EventLog,
  target: EventLog,
): Promise<RecordedEvent | undefined> {
  const last = await lastBinding(target);
  if (last === undefined) return undefined;
  for await (const { id } of source.readStream(BINDINGS)) if (id === last.id) return undefined;
  return last;
}

/** Checks that the store has no id, or the one from an earlier run. @throws {OtherStore} */
export async function assertFreeStore(
  target: Pick<ObjectStore, 'id'>,
  earlier: RecordedEvent | undefined,
  source: EventLog,
): Promise<void> {
  const id = await target.id();
  if (id === undefined || (earlier && storeIdOf(earlier) === id)) return;
  const bound = earlier ? storeIdOf(earlier) : await boundStore(source);
  const whose =
    id === bound
      ? `The archive store with the id ${id} is the one that was backed up, so a service may use it.`
      : `The archive store has the id ${id}, so it belongs to another event log; the log to restore belongs to ${bound ?? 'none'}.`;
  throw new OtherStore(
    `${whose} Give an empty store, or let --take-over give this one a new id: a service that uses it now is refused from then on.`,
  );
}
