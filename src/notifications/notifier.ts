import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import { execute, type Loaded, load } from '../command-handler.ts';
import { deposits, notifications } from '../domain/aggregates.ts';
import type { NotificationHeld } from '../domain/notifications/events.ts';
import {
  isRecorded,
  type Notifications,
  type NotificationsCommand,
} from '../domain/notifications/notifications.ts';
import { type EventLog, occurredAt, type RecordedEvent } from '../event-log/event-log.ts';
import type { Pauses } from '../growing-pause.ts';
import { isNews, type NewsEvent, newsUpTo } from '../news/deposit-news.ts';
import { causedBy, depositIdOf } from '../reactors/causation.ts';
import { clientOf } from '../reactors/client-of.ts';
import type { Parking, Reactor } from '../reactors/reactor.ts';
import { clock } from '../tools/clock.ts';
import type { Courier } from './courier.ts';
import type { Failure } from './postman.ts';
import { pauseOf } from './receiver-line.ts';
import type { Webhooks } from './webhooks.ts';

const BEHIND_OTHERS = 'Earlier notifications about the deposit wait.';
/** Time for a node that sends a notification to record that, in milliseconds. */
const IN_FLIGHT_MS = 12_000;

export type NotifierSettings = Pauses & {
  /** An event that is older than this, in milliseconds, is not sent. */
  readonly giveUpAfter: number;
};

/** Why something is held, and when to try it again; `null`: at any time. */
type Held = Pick<NotificationHeld['data'], 'reason'> & { readonly nextTryAt: string | null };

type Due = {
  readonly news: NewsEvent;
  readonly webhook: ClientWebhook;
  readonly recorded: Loaded<Notifications>;
  /** Earlier events of which no node has recorded an outcome, oldest first. */
  readonly missing: readonly NewsEvent[];
};

/**
 * Notifies clients of their deposits as events happen, and records each notification that was accepted. A node sends
 * one only if all earlier ones of the deposit are recorded as sent, held or given up. Otherwise it is held in the log,
 * behind them, to be delivered by any node.
 */
export class Notifier implements Reactor {
  readonly name = 'notifier';
  readonly streamPrefix = deposits.prefix;
  readonly #log: EventLog;
  readonly #parking: Pick<Parking, 'left'>;
  readonly #webhooks: Webhooks;
  readonly #courier: Courier;
  readonly #settings: NotifierSettings;
  #tooOld = 0;

  constructor(
    log: EventLog,
    parking: Pick<Parking, 'left'>,
    webhooks: Webhooks,
    courier: Courier,
    settings: NotifierSettings,
  ) {
    this.#log = log;
    this.#parking = parking;
    this.#webhooks = webhooks;
    this.#courier = courier;
    this.#settings = settings;
  }

  /** Events that were not sent because they were too old, since the start. */
  get tooOld(): number {
    return this.#tooOld;
  }

  reactsTo(event: RecordedEvent): boolean {
    return isNews(event) && this.#webhooks.mayBeAnyAt(event.position);
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return clientOf(this.#log, event);
  }

  async react(event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const due = await this.#due(event);
    if (!due) return;
    const { missing, recorded } = due;
    const newest = missing.at(-1);
    if (newest) return this.#hold(event, due, afterFlight(newest.event));
    if (recorded.state.held.length > 0) return this.#hold(event, due, anyTime(BEHIND_OTHERS));
    const held = await this.#deliver(due, signal);
    if (held) return this.#hold(event, due, held);
    const { depositId } = due.news.deposit;
    const sent = { type: 'RecordDelivered', depositId, revisions: [event.revision] } as const;
    await this.#record(event, depositId, sent, 'sent', recorded);
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const due = await this.#due(event);
    if (due) await this.#hold(event, due, anyTime(error instanceof Error ? error.message : String(error)));
  }

  /** Returns what is to be sent; `undefined` if nothing is, or if its outcome is recorded. */
  async #due(event: RecordedEvent): Promise<Due | undefined> {
    await this.#webhooks.arrived(event.position);
    if (!this.#webhooks.mayBeAnyAt(event.position)) return undefined;
    const depositId = depositIdOf(event);
    const all = await newsUpTo(this.#log, depositId, event.revision);
    const news = all.pop();
    if (news?.event.revision !== event.revision) return undefined;
    const webhook = await this.#webhooks.at(news.deposit.client, event.position);
    if (!webhook) return undefined;
    const recorded = await load(this.#log, notifications, depositId);
    if (isRecorded(recorded.state, event.revision)) return undefined;
    if (this.#isTooOld(event)) {
      this.#tooOld += 1;
      return undefined;
    }
    const missing = await this.#notLeft(
      all.filter(
        ({ event: earlier }) =>
          webhook.since < earlier.position &&
          !isRecorded(recorded.state, earlier.revision) &&
          !this.#isTooOld(earlier),
      ),
    );
    const forbidden = await this.#webhooks.whyUntold(news.deposit);
    if (forbidden === undefined) return { news, webhook, recorded, missing };
    const revisions = [...missing, news].map((one) => one.event.revision);
    await this.#record(
      event,
      depositId,
      { type: 'GiveUp', depositId, revisions, reason: forbidden },
      'skip',
      recorded,
    );
    return undefined;
  }

  /** What is parked waits for an operator, and blocks nothing else. */
  async #notLeft(news: readonly NewsEvent[]): Promise<readonly NewsEvent[]> {
    if (news.length === 0) return news;
    const left = await this.#parking.left(this.name);
    return news.filter(({ event }) => !left.has(event.id));
  }

  /** A log restored from a backup, without the position of this reactor, must not send everything once more. */
  #isTooOld(event: RecordedEvent): boolean {
    return Date.parse(occurredAt(event)) < clock.now() - this.#settings.giveUpAfter;
  }

  /** Resolves to how it is to be held if the receiver did not accept it. */
  async #deliver({ news, webhook }: Due, signal: AbortSignal): Promise<Held | undefined> {
    const line = this.#courier.lineTo(webhook);
    const closed = await line.takeSoon();
    if (closed !== undefined) return anyTime(closed);
    try {
      const outcome = await this.#courier.deliver(webhook, line, news, signal);
      return outcome.taken ? undefined : this.#heldAfter(outcome);
    } finally {
      line.leave();
    }
  }

  #heldAfter(failure: Failure): Held {
    const pause = pauseOf(failure, 1, this.#settings);
    return pause === 0 ? anyTime(failure.reason) : notBefore(clock.now() + pause, failure.reason);
  }

  /** Holds the event and, before it, every earlier one without an outcome: so nothing is sent before it. */
  async #hold(cause: RecordedEvent, { missing, news }: Due, held: Held): Promise<void> {
    for (const { event, deposit } of [...missing, news]) {
      const { depositId, client, collection } = deposit;
      const { id: eventId, revision } = event;
      const heldAt = clock.date().toISOString();
      const about = { depositId, client, collection, eventId, revision, heldAt, ...held };
      await this.#record(cause, depositId, { type: 'HoldNotification', ...about }, `hold/${revision}`);
    }
  }

  async #record(
    cause: RecordedEvent,
    depositId: number,
    command: NotificationsCommand,
    step: string,
    from?: Loaded<Notifications>,
  ): Promise<void> {
    await execute(this.#log, notifications, depositId, command, causedBy(cause, this.name, step), { from });
  }
}

/** Behind an earlier notification that another node may be sending right now. */
function afterFlight(earlier: RecordedEvent): Held {
  const sentAt = Math.min(Date.parse(occurredAt(earlier)), clock.now()); // the clock of its node may be ahead
  const landed = sentAt + IN_FLIGHT_MS;
  return landed > clock.now() ? notBefore(landed, BEHIND_OTHERS) : anyTime(BEHIND_OTHERS);
}

function notBefore(milliseconds: number, reason: string): Held {
  return { reason, nextTryAt: new Date(milliseconds).toISOString() };
}

function anyTime(reason: string): Held {
  return { reason, nextTryAt: null };
}
