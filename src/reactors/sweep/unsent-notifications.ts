import { readState } from '../../deposits/command-handler.ts';
import { statusChangesUpTo } from '../../deposits/status-change.ts';
import { notifications } from '../../domain/aggregates.ts';
import { STATUSES } from '../../domain/deposit/status-detail.ts';
import { isRecorded } from '../../domain/notifications/notifications.ts';
import { type EventLog, occurredAt, type RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import type { NotificationViews } from './notification-views.ts';
import { pagedByTime } from './paged-view.ts';
import type { UnreadableDeposits } from './unreadable-deposits.ts';

type UnsentOptions = {
  readonly log: EventLog;
  readonly views: Pick<NotificationViews, 'webhooks' | 'recorded' | 'deleted' | 'statuses'>;
  /** Milliseconds after which a notification is no longer sent. */
  readonly giveUpAfter: number;
  readonly unreadable: UnreadableDeposits;
};

/** An event may be recorded later than its time says, since clocks differ and appends are repeated. */
const OVERLAP_MS = 3_600_000;
const MAX_LISTED = 1000;

type Candidate = { readonly depositId: number; readonly revision: number };

/**
 * Finds status events without a recorded outcome: neither sent, nor held, nor given up. Each run examines what has
 * changed since the previous one; the first examines every deposit of a client with a webhook.
 */
export class UnsentNotifications {
  readonly #options: UnsentOptions;
  /** Candidates of the last run, examined again until an outcome is recorded. */
  #open: readonly Candidate[] = [];
  #examined = '';
  /** The client of each deposit that {@link unrecorded} counts. */
  readonly #unrecorded = new Map<number, string>();

  constructor(options: UnsentOptions) {
    this.#options = options;
  }

  /**
   * Deposits of clients with a webhook whose last status event has no recorded outcome and is too old to be sent. A
   * release that recorded no outcomes may have sent it. Lists the first thousand.
   */
  get unrecorded(): { readonly count: number; readonly depositIds: readonly number[] } {
    return { count: this.#unrecorded.size, depositIds: [...this.#unrecorded.keys()].slice(0, MAX_LISTED) };
  }

  /** Yields the last unsent status event of each deposit that has not changed since `limit`, RFC 3339. */
  async *find(limit: string, signal: AbortSignal): AsyncGenerator<RecordedEvent> {
    const { webhooks } = this.#options.views;
    const notified = new Set(Array.from(webhooks.values(), ({ client }) => client));
    for (const [depositId, client] of this.#unrecorded)
      if (!notified.has(client)) this.#unrecorded.delete(depositId);
    if (notified.size === 0) return;
    if (limit < this.#examined) this.#examined = ''; // the clock was ahead in an earlier run
    const before = this.#open;
    const open: Candidate[] = [];
    const seen = new Set<string>(); // those of the last run may be in the views as well
    for await (const candidate of this.#candidates(before, notified, limit, signal)) {
      const key = `${candidate.depositId}/${candidate.revision}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const { unreadable } = this.#options;
      const event = await unreadable.tryRead(candidate.depositId, () => this.#unsent(candidate));
      if (!event) continue;
      open.push(candidate);
      if (event !== 'unreadable') yield event;
    }
    if (signal.aborted) return;
    this.#open = open;
    this.#examined = new Date(Date.parse(limit) - OVERLAP_MS).toISOString();
  }

  async *#candidates(
    open: readonly Candidate[],
    notified: ReadonlySet<string>,
    limit: string,
    signal: AbortSignal,
  ): AsyncGenerator<Candidate> {
    const { statuses, deleted } = this.#options.views;
    yield* open;
    const range = { from: this.#examined, upTo: limit };
    for (const status of STATUSES) {
      const all = pagedByTime(statuses, { equal: { status }, field: 'updatedAt', ...range }, signal);
      for await (const { depositId, client, revision } of all) {
        // The only status event of a partial deposit is its first event.
        const expected = status === 'partial' ? 0 : revision;
        if (notified.has(client) && !this.#isRecorded(depositId, expected)) yield { depositId, revision };
      }
    }
    for await (const { depositId, revision } of pagedByTime(
      deleted,
      { field: 'deletedAt', ...range },
      signal,
    )) {
      if (!this.#isRecorded(depositId, revision)) yield { depositId, revision };
    }
  }

  /** Whether the last change of a deposit is recorded. An older one without a record is then no longer counted. */
  #isRecorded(depositId: number, revision: number): boolean {
    const { recorded } = this.#options.views;
    const isRecorded = recorded.get(String(depositId))?.revisions.includes(revision) ?? false;
    if (isRecorded) this.#unrecorded.delete(depositId);
    return isRecorded;
  }

  /** Reads the streams, which decide: the views may be behind. */
  async #unsent({ depositId, revision }: Candidate): Promise<RecordedEvent | undefined> {
    const { log, giveUpAfter } = this.#options;
    const tooOld = new Date(clock.now() - giveUpAfter).toISOString();
    const last = (await statusChangesUpTo(log, depositId, revision)).at(-1);
    const webhook = last && this.#options.views.webhooks.get(last.deposit.client);
    if (!last || !webhook || last.event.position <= webhook.since) return undefined;
    const { state } = await readState(log, notifications, depositId);
    if (isRecorded(state, last.event.revision)) return void this.#unrecorded.delete(depositId);
    if (occurredAt(last.event) > tooOld) return last.event;
    this.#unrecorded.set(depositId, last.deposit.client);
    return undefined;
  }
}
