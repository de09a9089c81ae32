import { deposits } from './domain/aggregates.ts';
import { namedObjects } from './domain/deposit/named-objects.ts';
import type { EventLog, Position, ReadAllOptions } from './event-log/event-log.ts';

export type NamedObject = { readonly sha256: string; readonly position: Position };

/**
 * Yields every object that an event names, with the position of the event, in the order of the log. An object may
 * come again.
 * @throws {UnreadableEvent} a newer release wrote the event
 */
export async function* objectsNamed(
  log: Pick<EventLog, 'readAll'>,
  options: Pick<ReadAllOptions, 'after' | 'signal'> = {},
): AsyncGenerator<NamedObject> {
  for await (const stored of log.readAll({ ...options, streamPrefixes: [deposits.prefix] })) {
    const { position } = stored;
    for (const sha256 of namedObjects(deposits.codec.read(stored))) yield { sha256, position };
  }
}

/** Resolves to each digest once. Takes some 150 bytes of memory for each object. */
export async function setOfObjectsNamed(
  log: Pick<EventLog, 'readAll'>,
  options: Pick<ReadAllOptions, 'signal'> = {},
): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for await (const { sha256 } of objectsNamed(log, options)) named.add(sha256);
  return named;
}
