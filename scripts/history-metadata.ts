import type { Json, RecordedEvent } from '../src/event-log/event-log.ts';

/** When the event occurred, as it says. */
export function timeOf({ metadata }: RecordedEvent): string {
  return text(metadata['occurredAt']) || 'at an unknown time';
}

/** Who acted, as in "client alice". */
export function actorOf({ metadata }: RecordedEvent): string {
  const { kind, name } = (metadata['actor'] ?? {}) as { readonly kind?: Json; readonly name?: Json };
  return `${text(kind)} ${text(name)}`.trim() || 'nobody known';
}

/** What it happened in connection with; empty when it does not say. */
export function correlationOf({ metadata }: RecordedEvent): string {
  return text(metadata['$correlationId']);
}

/** An event that somebody has changed may hold anything. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
