import { addAbortSignal } from 'node:stream';
import { ObjectError, type ObjectStore } from '../../object-store/object-store.ts';
import { clock } from '../../tools/clock.ts';
import { random } from '../../tools/random.ts';
import type { EventLogParking } from '../parking.ts';

export type ReadableAgainOptions = {
  readonly parking: Pick<EventLogParking, 'waiting' | 'retry'>;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly reactors: readonly string[];
};

/**
 * Reads each object for which an event is parked, and has the reactor retry the event if the object is intact.
 * @throws {ObjectStoreUnavailable} @throws {EventLogUnavailable} @throws the reason of `signal`
 */
export async function retryReadable(
  { parking, store, reactors }: ReadableAgainOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const reactor of reactors) {
    for (const parked of await parking.waiting(reactor)) {
      signal.throwIfAborted();
      if (parked.object === undefined || !(await isReadable(store, parked.object, signal))) continue;
      const [commandId, correlationId] = [random.uuid(), random.uuid()];
      const actor = { kind: 'service', name: 'sweep' } as const;
      await parking.retry(parked, { commandId, correlationId, actor, now: clock.date().toISOString() });
    }
  }
}

async function isReadable(
  store: Pick<ObjectStore, 'get'>,
  sha256: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { body } = await store.get(sha256);
    for await (const _chunk of addAbortSignal(signal, body));
    return true;
  } catch (error) {
    if (error instanceof ObjectError) return false;
    throw error;
  }
}
