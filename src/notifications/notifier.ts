import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import { execute, load } from '../command-handler.ts';
import { deposits, notifications } from '../domain/aggregates.ts';
import type { NotificationHeld } from '../domain/notifications/events.ts';
import { type EventLog, occurredAt, type RecordedEvent } from '../event-log/event-log.ts';
import type { Pauses } from '../growing-pause.ts';
import { isNews, type NewsEvent, newsAt } from '../news/deposit-news.ts';
import { causedBy, depositIdOf } from '../reactors/causation.ts';
import { clientOf } from '../reactors/client-of.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Courier } from './courier.ts';
import type { Failure } from './postman.ts';
import { pauseOf } from './receiver-line.ts';
import type { Webhooks } from './webhooks.ts';

const BEHIND_OTHERS = 'Earlier notifications about the deposit wait.';

export type NotifierSettings = Pauses & {
  /** What is older than so many milliseconds when its turn comes is no news any more. */
  readonly giveUpAfter: number;
};

/** Why something is held, and when to try it again; `null`: whenever somebody can. */
type Held = Pick<NotificationHeld['data'], 'reason'> & { readonly nextTryAt: string | null };

/**
 * Tells clients of their deposits as things happen. What is not taken at the first try is held in the log, to be
 * delivered later by whichever node; until then everything else about the same deposit is held behind it.
 */
export class Notifier implements Reactor {
  readonly name = 'notifier';
  readonly streamPrefix = deposits.prefix;
  readonly #log: EventLog;
  readonly #webhooks: Webhooks;
  readonly #courier: Courier;
  readonly #settings: NotifierSettings;
  #tooOld = 0;

  constructor(log: EventLog, webhooks: Webhooks, courier: Courier, settings: NotifierSettings) {
    this.#log = log;
    this.#webhooks = webhooks;
    this.#courier = courier;
    this.#settings = settings;
  }

  /** Events that were not told since they were too old, since the start. */
  get tooOld(): number {
    return this.#tooOld;
  }

  reactsTo(event: RecordedEvent): boolean {
    return isNews(event);
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return clientOf(this.#log, event);
  }

  async react(event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const found = await this.#concerned(event);
    if (!found) return;
    const { news, webhook, isBehind } = found;
    if (this.#isTooOld(event)) {
      this.#tooOld += 1;
      return;
    }
    const held = isBehind ? whenever(BEHIND_OTHERS) : await this.#deliver(news, webhook, signal);
    if (held) await this.#hold(news, held);
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const found = await this.#concerned(event);
    if (found) await this.#hold(found.news, whenever(error instanceof Error ? error.message : String(error)));
  }

  /** `undefined` when nobody is to be told or the client may not be, or when it has been held before. */
  async #concerned(event: RecordedEvent) {
    if (!this.#webhooks.mayBeAnyAt(event.position)) return undefined;
    const depositId = depositIdOf(event);
    const news = await newsAt(this.#log, depositId, event.revision);
    const webhook = news && (await this.#webhooks.at(news.deposit.client, event.position));
    if (!webhook) return undefined;
    const { state } = await load(this.#log, notifications, depositId);
    if (event.revision <= state.seen) return undefined;
    if ((await this.#webhooks.whyUntold(news.deposit)) !== undefined) return undefined;
    return { news, webhook, isBehind: state.held.length > 0 };
  }

  /** A log that was restored from a backup, without how far this reactor was, does not tell everything once more. */
  #isTooOld(event: RecordedEvent): boolean {
    return Date.parse(occurredAt(event)) < Date.now() - this.#settings.giveUpAfter;
  }

  /** Resolves to what is to be held of it, when it was not taken. */
  async #deliver(news: NewsEvent, webhook: ClientWebhook, signal: AbortSignal): Promise<Held | undefined> {
    const line = this.#courier.lineTo(webhook);
    const closed = await line.takeSoon();
    if (closed !== undefined) return whenever(closed);
    try {
      const outcome = await this.#courier.deliver(webhook, line, news, signal);
      return outcome.taken ? undefined : this.#heldAfter(outcome);
    } finally {
      line.leave();
    }
  }

  #heldAfter(failure: Failure): Held {
    const pause = pauseOf(failure, 1, this.#settings);
    return {
      reason: failure.reason,
      nextTryAt: pause === 0 ? null : new Date(Date.now() + pause).toISOString(),
    };
  }

  async #hold({ event, deposit }: NewsEvent, held: Held): Promise<void> {
    const { depositId, client, collection } = deposit;
    const { id: eventId, revision } = event;
    const context = causedBy(event, this.name, 'hold');
    const about = { depositId, client, collection, eventId, revision, heldAt: context.now, ...held };
    await execute(this.#log, notifications, depositId, { type: 'HoldNotification', ...about }, context);
  }
}

function whenever(reason: string): Held {
  return { reason, nextTryAt: null };
}
