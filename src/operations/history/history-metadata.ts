import type { Json, RecordedEvent } from '../../event-log/event-log.ts';

export function timeOf({ metadata }: RecordedEvent): string {
  return text(metadata['occurredAt']) || 'at an unknown time';
}

/** Returns the actor, as in "client alice". */
export function actorText({ metadata }: RecordedEvent): string {
  const { kind, name } = (metadata['actor'] ?? {}) as { readonly kind?: Json; readonly name?: Json };
  return `${text(kind)} ${text(name)}`.trim() || 'unknown';
}

/** Returns the correlation id; empty if the event states none. */
export function correlationOf({ metadata }: RecordedEvent): string {
  return text(metadata['$correlationId']);
}

/** Returns a text of the event; an event that was tampered with may contain any value. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
