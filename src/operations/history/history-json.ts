import { depositOfStream } from '../../domain/aggregates.ts';
import type { JsonObject } from '../../event-log/event-log.ts';
import { jsonLine } from '../command/output.ts';
import { correlationOf, timeOf } from './history-metadata.ts';
import type { Step } from './stream-history.ts';

/** Formats one event as a line of JSON: nothing is shortened, credentials are omitted. */
export function stepJson(
  { stored, fault, unknown, description, state }: Step,
  before: Step | undefined,
): string {
  const { stream, revision, position, id, type, data, metadata } = stored;
  return jsonLine({
    depositId: depositOfStream(stream),
    stream,
    revision,
    position,
    eventId: id,
    type,
    occurredAt: timeOf(stored),
    actor: metadata['actor'] ?? null,
    correlationId: correlationOf(stored),
    causationId: metadata['$causationId'] ?? null,
    text: description.sentence,
    data,
    status: state.status,
    changed: changed(before?.state ?? {}, state),
    hash: metadata['hash'] ?? null,
    broken: fault ?? null,
    unknown: unknown ?? null,
  });
}

export function stateJson({ stored, fault, unknown, state }: Step): string {
  const { stream, revision, metadata } = stored;
  return jsonLine({
    depositId: depositOfStream(stream),
    stream,
    revision,
    occurredAt: timeOf(stored),
    actor: metadata['actor'] ?? null,
    broken: fault ?? null,
    unknown: unknown ?? null,
    ...(state as unknown as JsonObject), // states are declared as plain JSON
  });
}

/** Returns the parts of the state besides its status that are new, and `null` for those removed. */
function changed(before: object, after: object): JsonObject {
  const [old, present] = [before, after] as [JsonObject, JsonObject]; // states are declared as plain JSON
  const names = new Set([...Object.keys(old), ...Object.keys(present)]);
  names.delete('status');
  const news = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(present[name]));
  return Object.fromEntries(news.map((name) => [name, present[name] ?? null]));
}
