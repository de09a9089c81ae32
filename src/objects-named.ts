import { deposits } from './domain/aggregates.ts';
import { namedObjects } from './domain/deposit/named-objects.ts';
import type { EventLog, ReadAllOptions } from './event-log/event-log.ts';

/**
 * Yields the digest of every object that an event names, in the order of the log. A digest may come again.
 * @throws {UnreadableEvent} a newer release wrote the event
 */
export async function* objectsNamed(
  log: Pick<EventLog, 'readAll'>,
  options: Pick<ReadAllOptions, 'after' | 'signal'> = {},
): AsyncGenerator<string> {
  for await (const stored of log.readAll({ ...options, streamPrefixes: [deposits.prefix] })) {
    yield* namedObjects(deposits.codec.read(stored));
  }
}

/** Resolves to each digest once. Takes some 150 bytes of memory for each object. */
export async function setOfObjectsNamed(
  log: Pick<EventLog, 'readAll'>,
  options: Pick<ReadAllOptions, 'signal'> = {},
): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for await (const sha256 of objectsNamed(log, options)) named.add(sha256);
  return named;
}
