import type { Json, RecordedEvent } from '../../event-log/event-log.ts';

/**
 * Members of `data` that let their reader log in, sign, or read views: digests of passwords, sealed secrets of webhooks,
 * and keys of snapshots. Only `ClientRegistered`, `CredentialChanged`, `WebhookSet` and `ViewSnapshotStored` have one:
 * docs/auditing/verify.py accepts `null` there alone.
 */
const SECRETS = ['credential', 'secret'] as const;

/** Returns the event with `null` in place of each secret. Its hash remains, but cannot be recomputed. */
export function redactedEvent(event: RecordedEvent): RecordedEvent {
  const secrets = SECRETS.filter((name) => (event.data[name] ?? null) !== null);
  if (secrets.length === 0) return event;
  const nulls: Readonly<Record<string, Json>> = Object.fromEntries(secrets.map((name) => [name, null]));
  return { ...event, data: { ...event.data, ...nulls } };
}

/** Whether a secret of the event was replaced. The service itself never writes `null` there. */
export function isRedacted({ data }: Pick<RecordedEvent, 'data'>): boolean {
  return SECRETS.some((name) => data[name] === null);
}
