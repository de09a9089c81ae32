import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import type { StoredEvent } from '../cluster/stored-event.ts';

/** Returns an event of the server as the service sees it. */
export function recorded({
  id,
  type,
  data,
  metadata,
  streamId,
  revision,
  place,
}: StoredEvent): RecordedEvent {
  const stored = { id, type, data, metadata, stream: streamId, revision: Number(revision) };
  return { ...stored, position: place } as RecordedEvent; // data and metadata are JSON
}
