import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { deposits } from '../domain/aggregates.ts';
import { statusAfter, UNFINISHED } from '../domain/deposit/status-detail.ts';
import { type EventLog, occurredAt, type RecordedEvent, staleRead } from '../event-log/event-log.ts';
import { withIdentifiers } from '../swhid/deposit-identifiers.ts';
import { statusFields } from '../sword/documents/status-document.ts';
import type { Iris } from '../sword/iris.ts';
import { apply } from '../views/fold.ts';

/** Payload of a status change, for webhooks and server-sent events. */
export type StatusChangeDocument = {
  readonly type: 'deposit.status' | 'deposit.deleted';
  /** Time of the event, RFC 3339 in UTC. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type StatusChangeContext = { readonly iris: Iris; readonly refIdAliases: boolean };

/** A deposit and an event that changed its status. */
export type StatusChange = {
  readonly event: RecordedEvent;
  /** The deposit after the event; before it, if the event deleted the deposit. */
  readonly deposit: DepositStatusView;
};

/** Returns whether a deposit is created, gets another status, or is deleted by an event of this type. */
export function isStatusChange({ type }: Pick<RecordedEvent, 'type'>): boolean {
  return statusAfter(type) !== undefined;
}

/** Returns whether no further status follows after an event of this type, unless an operator retries. */
export function isLastChange({ type }: Pick<RecordedEvent, 'type'>): boolean {
  const status = statusAfter(type);
  return status !== undefined && !UNFINISHED.some((unfinished) => unfinished === status);
}

/** Reads the status changes of one deposit, incrementally. */
export class StatusChangeReader {
  readonly #log: Pick<EventLog, 'readStream'>;
  readonly #stream: string;
  #deposit: DepositStatusView | undefined;
  #next = 0;

  constructor(log: Pick<EventLog, 'readStream'>, depositId: number) {
    this.#log = log;
    this.#stream = `${deposits.prefix}${depositId}`;
  }

  /** Revision of the last event that was read; -1 before the first. */
  get revision(): number {
    return this.#next - 1;
  }

  /** Yields the changes that were not read yet, oldest first, up to a revision if one is given. */
  async *more(upTo?: number): AsyncGenerator<StatusChange> {
    const limit = upTo === undefined ? {} : { limit: upTo + 1 - this.#next };
    for await (const event of this.#log.readStream(this.#stream, { from: this.#next, ...limit })) {
      const before = this.#deposit;
      this.#deposit = apply(depositStatus, before, event);
      this.#next = event.revision + 1;
      const deposit = this.#deposit ?? before;
      if (deposit && isStatusChange(event)) yield { event, deposit };
    }
  }
}

/** Returns the status events of a deposit up to a revision, in order. @throws {EventLogUnavailable} a stale read */
export async function statusChangesUpTo(
  log: Pick<EventLog, 'readStream'>,
  depositId: number,
  revision: number,
): Promise<StatusChange[]> {
  const reader = new StatusChangeReader(log, depositId);
  const changes = await Array.fromAsync(reader.more(revision));
  if (reader.revision < revision)
    throw staleRead(`${deposits.prefix}${depositId}`, reader.revision, revision);
  return changes;
}

/** Returns the status event with this revision. @throws {EventLogUnavailable} the read is stale */
export async function statusChangeAt(
  log: Pick<EventLog, 'readStream'>,
  depositId: number,
  revision: number,
): Promise<StatusChange | undefined> {
  const last = (await statusChangesUpTo(log, depositId, revision)).at(-1);
  return last?.event.revision === revision ? last : undefined;
}

/** Returns the payload, which is identical for the same event on every node and at any time. */
export function statusChangeDocument(
  { event, deposit }: StatusChange,
  { iris, refIdAliases }: StatusChangeContext,
): StatusChangeDocument {
  const { depositId, collection } = deposit;
  const isGone = event.type === 'DepositDeleted';
  const timestamp = occurredAt(event);
  return {
    type: isGone ? 'deposit.deleted' : 'deposit.status',
    timestamp,
    data: {
      event_id: event.id,
      revision: event.revision,
      deposit_id: depositId,
      client: deposit.client,
      collection,
      title: deposit.title,
      ...(!isGone && statusFields(withIdentifiers(deposit), refIdAliases)),
      created: deposit.createdAt,
      updated: timestamp,
      links: {
        edit: iris.edit(collection, depositId),
        edit_media: iris.media(collection, depositId),
        status: iris.status(collection, depositId),
        content: iris.content(collection, depositId),
        statement: iris.statement(collection, depositId),
        history: iris.history(collection, depositId),
        events: iris.events(collection, depositId),
      },
    },
  };
}
