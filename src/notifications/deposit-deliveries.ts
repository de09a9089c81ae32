import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import { type CommandContext, execute, load, type Outcome } from '../command-handler.ts';
import { notifications } from '../domain/aggregates.ts';
import { UnreadableEvent } from '../domain/codec.ts';
import type {
  HeldNotification,
  Notifications,
  NotificationsCommand,
  NotificationsEvent,
} from '../domain/notifications/notifications.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import type { Pauses } from '../growing-pause.ts';
import { type NewsEvent, newsAt } from '../news/deposit-news.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import type { Courier } from './courier.ts';
import type { Outcome as Delivery, Failure } from './postman.ts';
import { LONGEST_WAIT, pauseOf, type ReceiverLine } from './receiver-line.ts';
import type { Webhooks } from './webhooks.ts';

/** How long one node has the notifications of a deposit for itself, and how much of it one of them may need. */
const [CLAIM, ONE_TRY] = [30_000, 12_000];
/** The service stops: nobody has to wait until the claim is over. */
const STOPPED: Failure = {
  taken: false,
  reason: 'The service was stopped in the middle of it.',
  isUnreachable: true,
  retryAfter: 0,
};

type Found = { readonly news: NewsEvent | undefined; readonly forbidden: string | undefined };
/** The revisions that were accepted, what went wrong with the next one, or why no more may be sent. */
type Sent = {
  readonly revisions: readonly number[];
  readonly failure?: Failure;
  readonly forbidden?: string;
};

/**
 * Delivers, or gives up, what is held of one deposit. Before anything is sent, that is said in the deposit's stream
 * of notifications: no two nodes send the same at the same time, and a node that dies leaves nothing behind but time.
 */
export class DepositDeliveries {
  readonly #log: EventLog;
  readonly #webhooks: Pick<Webhooks, 'whyUntold'>;
  readonly #courier: Courier;
  readonly #pauses: Pauses;

  constructor(log: EventLog, webhooks: Pick<Webhooks, 'whyUntold'>, courier: Courier, pauses: Pauses) {
    this.#log = log;
    this.#webhooks = webhooks;
    this.#courier = courier;
    this.#pauses = pauses;
  }

  /** On a place of the line that was taken. Resolves to where in the log the outcome is. */
  async deliver(
    depositId: number,
    webhook: ClientWebhook,
    line: ReceiverLine,
    signal: AbortSignal,
  ): Promise<Position | undefined> {
    const now = clock.now();
    const deadline = clock.monotonic() + CLAIM - ONE_TRY; // of the claim, not of the moment when it was recorded
    const claimed = await this.#execute({
      type: 'TryDelivery',
      depositId,
      now: iso(now),
      latest: iso(now + LONGEST_WAIT),
      nextTryAt: iso(now + CLAIM),
    });
    if (claimed.events.length === 0) return claimed.position;
    const { held, attempt } = claimed.state;
    const sending = this.#send(depositId, held, webhook, line, { signal, deadline });
    const { revisions, failure, forbidden } = await sending;
    let last = claimed.position;
    if (revisions.length > 0) {
      last = (await this.#execute({ type: 'RecordDelivered', depositId, revisions })).position;
    }
    if (failure) last = await this.#failed(depositId, revisions.length > 0 ? 0 : attempt, failure);
    if (forbidden === undefined) return last;
    return (await this.giveUp(depositId, forbidden, () => true)) ?? last;
  }

  /** Gives up those that `isOver` returns true for. */
  async giveUp(
    depositId: number,
    reason: string,
    isOver: (notification: HeldNotification) => boolean,
  ): Promise<Position | undefined> {
    const { state } = await load(this.#log, notifications, depositId);
    const revisions = state.held.filter(isOver).map(({ revision }) => revision);
    if (revisions.length === 0) return undefined;
    const outcome = await this.#execute({ type: 'GiveUp', depositId, revisions, reason });
    return outcome.position;
  }

  /** One after the other, until one is not taken or the time is up. */
  async #send(
    depositId: number,
    held: readonly HeldNotification[],
    webhook: ClientWebhook,
    line: ReceiverLine,
    { signal, deadline }: { readonly signal: AbortSignal; readonly deadline: number },
  ): Promise<Sent> {
    const revisions: number[] = [];
    for (const { revision } of held) {
      if (clock.monotonic() > deadline) break;
      const found = await this.#find(depositId, revision);
      if (found instanceof UnreadableEvent) return { revisions, failure: unread(found) };
      const { news, forbidden } = found;
      if (forbidden !== undefined) return { revisions, forbidden };
      const outcome = news && (await this.#delivered(webhook, line, news, signal));
      if (outcome && !outcome.taken) return { revisions, failure: outcome };
      revisions.push(revision);
    }
    return { revisions };
  }

  /** What is to be told, and why not; or what a newer release wrote, which may take its time to come back. */
  async #find(depositId: number, revision: number): Promise<Found | UnreadableEvent> {
    try {
      const news = await newsAt(this.#log, depositId, revision);
      return { news, forbidden: news && (await this.#webhooks.whyUntold(news.deposit)) };
    } catch (error) {
      if (error instanceof UnreadableEvent) return error;
      throw error;
    }
  }

  async #delivered(
    webhook: ClientWebhook,
    line: ReceiverLine,
    news: NewsEvent,
    signal: AbortSignal,
  ): Promise<Delivery> {
    try {
      return await this.#courier.deliver(webhook, line, news, signal);
    } catch (error) {
      if (signal.aborted) return STOPPED;
      throw error;
    }
  }

  async #failed(depositId: number, attempt: number, failure: Failure): Promise<Position> {
    const { reason } = failure;
    const nextTryAt = iso(clock.now() + pauseOf(failure, attempt, this.#pauses));
    const outcome = await this.#execute({ type: 'RecordFailed', depositId, attempt, reason, nextTryAt });
    return outcome.position;
  }

  #execute(command: NotificationsCommand): Promise<Outcome<Notifications, NotificationsEvent>> {
    return execute(this.#log, notifications, command.depositId, command, context());
  }
}

function unread({ message: reason }: UnreadableEvent): Failure {
  return { taken: false, reason, isUnreachable: false, retryAfter: 0 };
}

function context(): CommandContext {
  const [commandId, correlationId, now] = [random.uuid(), random.uuid(), iso(clock.now())];
  return { commandId, correlationId, now, actor: { kind: 'reactor', name: 'notifier' } };
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
