import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { deposits } from '../domain/aggregates.ts';
import { type EventLog, occurredAt, type RecordedEvent, staleRead } from '../event-log/event-log.ts';
import { apply } from '../read-models/fold.ts';
import { depositIdentifiers } from '../swhid/deposit-identifiers.ts';
import type { Iris } from '../sword/iris.ts';

/** What those are told who want to know when a deposit gets another status, over whatever way. */
export type DepositNews = {
  readonly type: 'deposit.status' | 'deposit.deleted';
  /** When it happened, RFC 3339 in UTC. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type NewsLanguage = { readonly iris: Iris; readonly refIdAliases: boolean };

/** A deposit and one event of it that is news. */
export type NewsEvent = {
  readonly event: RecordedEvent;
  /** As the event has left it; of a deleted one, as it was before. */
  readonly deposit: DepositStatusView;
};

/** Events by which a deposit comes to be, gets another status, or is gone. */
const NEWS = new Set([
  'DepositCreated',
  'DepositCompleted',
  'DepositDeleted',
  'DepositVerified',
  'DepositRejected',
  'ChecksRetried',
  'LoadingStarted',
  'DepositLoaded',
  'LoadingFailed',
  'LoadingRetried',
  'MetadataDeposited',
]);

const ENDS = new Set(['DepositLoaded', 'DepositDeleted', 'MetadataDeposited']);

export function isNews({ type }: Pick<RecordedEvent, 'type'>): boolean {
  return NEWS.has(type);
}

/** Whether anything follows: after `over` only when an operator has something done again, after `ended` nothing. */
export function progressAfter({ type }: Pick<RecordedEvent, 'type'>): 'goes on' | 'over' | 'ended' {
  if (ENDS.has(type)) return 'ended';
  return type === 'DepositRejected' || type === 'LoadingFailed' ? 'over' : 'goes on';
}

/** Reads the news of one deposit, and later those that have come since. */
export class DepositNewsReader {
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

  /** What was not read yet, oldest first, up to a revision if one is given. */
  async *more(upTo?: number): AsyncGenerator<NewsEvent> {
    const limit = upTo === undefined ? {} : { limit: upTo + 1 - this.#next };
    for await (const event of this.#log.readStream(this.#stream, { from: this.#next, ...limit })) {
      const before = this.#deposit;
      this.#deposit = apply(depositStatus, before, event);
      this.#next = event.revision + 1;
      const deposit = this.#deposit ?? before;
      if (deposit && isNews(event)) yield { event, deposit };
    }
  }
}

/**
 * Returns all status events of a deposit up to a revision, oldest first.
 * @throws {EventLogUnavailable} the read is stale
 */
export async function newsUpTo(
  log: Pick<EventLog, 'readStream'>,
  depositId: number,
  revision: number,
): Promise<NewsEvent[]> {
  const reader = new DepositNewsReader(log, depositId);
  const news = await Array.fromAsync(reader.more(revision));
  if (reader.revision < revision)
    throw staleRead(`${deposits.prefix}${depositId}`, reader.revision, revision);
  return news;
}

/** Returns the status event with this revision. @throws {EventLogUnavailable} the read is stale */
export async function newsAt(
  log: Pick<EventLog, 'readStream'>,
  depositId: number,
  revision: number,
): Promise<NewsEvent | undefined> {
  const last = (await newsUpTo(log, depositId, revision)).at(-1);
  return last?.event.revision === revision ? last : undefined;
}

/** The same for the same event, whenever and wherever it is told. */
export function tell({ event, deposit }: NewsEvent, { iris, refIdAliases }: NewsLanguage): DepositNews {
  const { depositId, collection } = deposit;
  const isGone = event.type === 'DepositDeleted';
  const loaded = depositIdentifiers(deposit.loaded) ?? deposit.about;
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
      ...(!isGone && { deposit_status: deposit.status, deposit_status_detail: deposit.statusDetail }),
      ...(loaded && { deposit_ref_id: loaded.refId, deposit_ref_id_context: loaded.refIdContext }),
      ...(loaded &&
        refIdAliases && { deposit_swh_id: loaded.refId, deposit_swh_id_context: loaded.refIdContext }),
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
