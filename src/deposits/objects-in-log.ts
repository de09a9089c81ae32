import { deposits } from '../domain/aggregates.ts';
import { referencedObjects } from '../domain/deposit/objects-of-events.ts';
import type { EventLog, Position, ReadAllOptions } from '../event-log/event-log.ts';

export type ReferencedObject = { readonly sha256: string; readonly position: Position };

/**
 * Yields every object that an event references, with the position of the event, in the order of the log. An object may
 * be repeated.
 * @throws {UnreadableEvent} a newer release wrote the event
 */
export async function* objectsReferenced(
  log: Pick<EventLog, 'readAll'>,
  options: Pick<ReadAllOptions, 'after' | 'signal'> = {},
): AsyncGenerator<ReferencedObject> {
  for await (const stored of log.readAll({ ...options, streamPrefixes: [deposits.prefix] })) {
    const { position } = stored;
    for (const sha256 of referencedObjects(deposits.codec.read(stored))) yield { sha256, position };
  }
}
