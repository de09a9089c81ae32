import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { JsonObject, RecordedEvent } from '../event-log.ts';
import { UnusableAnswer } from './errors.ts';
import { isKnown, toPosition } from './position.ts';

/** An event as the client returns it; reads of one stream, of all and subscriptions differ only in their types. */
export type ClientEvent = ResolvedEvent | AllStreamResolvedEvent;

/**
 * Converts an event of the client. Returns `undefined` for a record that is not an event of this log: an event of the
 * server itself, a link, or not JSON.
 * @throws {UnusableAnswer}
 */
export function toRecordedEvent({ event }: ClientEvent): RecordedEvent | undefined {
  if (!event || event.streamId.startsWith('$') || event.type.startsWith('$')) return undefined;
  const { id, type, data, metadata, streamId, revision, position } = event;
  if (!event.isJson || !isJsonObject(data)) return undefined;
  if (!isKnown(position)) {
    throw new UnusableAnswer(`event ${id} has no position: the server must be 22.6 or newer`);
  }
  return {
    id,
    type,
    data,
    metadata: isJsonObject(metadata) ? metadata : {},
    stream: streamId,
    revision: Number(revision),
    position: toPosition(position),
  };
}

/** Whether the client parsed the value; bytes are a value that it could not parse. */
function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}
