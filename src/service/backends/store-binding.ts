import { appendAfter } from '../../event-log/append-after.ts';
import { type EventLog, lastEvent, type RecordedEvent } from '../../event-log/event-log.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';

/** The stream whose last event names the store that belongs to the log. */
export const BINDINGS = 'archive-store';

/** The log and the store do not belong together. */
export class OtherStore extends errorsOfCode('OTHER_STORE') {}

type Reader = Pick<EventLog, 'readStream'>;

/** Resolves to the event that names the store of the log. */
export function lastBinding(log: Reader, signal?: AbortSignal): Promise<RecordedEvent | undefined> {
  return lastEvent(log, BINDINGS, { signal });
}

/** Resolves to the id of the store of the log; `undefined` while the log names no store. */
export async function boundStore(log: Reader, signal?: AbortSignal): Promise<string | undefined> {
  const last = await lastBinding(log, signal);
  return last && storeIdOf(last);
}

/**
 * Appends an event that binds the store with this id to the log.
 * @param last result of {@link lastBinding} that this decision is based on
 * @throws {WrongExpectedRevision} another process was first
 */
export async function appendBinding(
  log: Pick<EventLog, 'append'>,
  storeId: string,
  last: RecordedEvent | undefined,
): Promise<void> {
  await appendAfter(log, BINDINGS, last, { type: 'StoreBound', data: { storeId } });
}

/**
 * Verifies that the log and the store have the same id, or both have no id, as before their first start.
 * @throws {OtherStore}
 */
export async function assertSameStore(
  log: Reader,
  store: Pick<ObjectStore, 'id'>,
  signal?: AbortSignal,
): Promise<void> {
  assertSameId(await boundStore(log, signal), await store.id());
}

/** @throws {OtherStore} */
export function assertSameId(bound: string | undefined, id: string | undefined): void {
  if (bound === id) return;
  throw new OtherStore(
    `The event log belongs to ${bound === undefined ? 'no archive store yet' : `the archive store ${bound}`}, but the archive store has ${id === undefined ? 'no id' : `the id ${id}`}. Check DEPOSIT_EVENT_LOG and DEPOSIT_ARCHIVE_STORE; if both are right, see "Log and store belong together" in docs/backup.md.`,
  );
}

/** @throws {OtherStore} the event was not written by this service */
export function storeIdOf({ type, data, revision }: RecordedEvent): string {
  const { storeId } = data;
  if (type === 'StoreBound' && typeof storeId === 'string') return storeId;
  throw new OtherStore(
    `Cannot find the archive store of the event log: ${type} at revision ${revision} of ${BINDINGS} is not StoreBound with an id.`,
  );
}
