import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import { handleCommand, newContext, type Outcome, readState } from '../../deposits/command-handler.ts';
import { type StatusChange, statusChangeAt } from '../../deposits/status-change.ts';
import { notifications } from '../../domain/aggregates.ts';
import { UnreadableEvent } from '../../domain/codec.ts';
import type {
  HeldNotification,
  Notifications,
  NotificationsCommand,
  NotificationsEvent,
} from '../../domain/notifications/notifications.ts';
import type { EventLog, Position } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import type { BackoffOptions } from '../../tools/concurrency/backoff.ts';
import { inSpan } from '../../tools/span.ts';
import { type CircuitBreaker, MAX_PAUSE_MS, retryPause } from './circuit-breaker.ts';
import type { Outcome as Delivery, Failure } from './webhook-client.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { Webhooks } from './webhooks.ts';

/** Milliseconds for which a node claims the notifications of a deposit, and the maximum part of it for one delivery. */
const [CLAIM_MS, DELIVERY_MS] = [30_000, 12_000];
/** Failure recorded when the service stops, so that other nodes need not wait for the end of the claim. */
const STOPPED: Failure = {
  taken: false,
  reason: 'The service stopped during the delivery.',
  isUnreachable: true,
  retryAfter: 0,
};

type DeliveryParts = {
  readonly log: EventLog;
  readonly webhooks: Pick<Webhooks, 'refusalReason'>;
  readonly sender: WebhookSender;
  readonly settings: BackoffOptions;
};

type Send = (change: StatusChange) => Promise<Delivery>;
type Found = { readonly change: StatusChange | undefined; readonly forbidden: string | undefined };
/** Accepted revisions, the failure of the next one, or the reason why no more may be sent. */
type Sent = {
  readonly revisions: readonly number[];
  readonly failure?: Failure;
  readonly forbidden?: string;
};

/**
 * Delivers or gives up the held notifications of one deposit. It first claims them in the deposit's notification
 * stream, so that no two nodes send the same one. If a node crashes, its claim expires.
 */
export class PendingNotifications {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Delivers with an acquired permit, in a trace of its own. Resolves to the position of the outcome. */
  deliver(
    depositId: number,
    webhook: ClientWebhook,
    breaker: CircuitBreaker,
    signal: AbortSignal,
  ): Promise<Position | undefined> {
    const send: Send = (change) =>
      this.#parts.sender.deliver(webhook, breaker, change, signal).catch((error: unknown) => {
        if (signal.aborted) return STOPPED;
        throw error;
      });
    return inSpan('notifier retries', { attributes: { 'deposit.id': depositId } }, () =>
      this.#deliver(depositId, send),
    );
  }

  async #deliver(depositId: number, send: Send): Promise<Position | undefined> {
    const now = clock.now();
    // Relative to the claim's `now`, not to when it was recorded.
    const deadline = clock.monotonic() + CLAIM_MS - DELIVERY_MS;
    const claimed = await this.#execute({
      type: 'TryDelivery',
      depositId,
      now: iso(now),
      latest: iso(now + MAX_PAUSE_MS),
      nextTryAt: iso(now + CLAIM_MS),
    });
    if (claimed.events.length === 0) return claimed.position;
    const { held, attempt } = claimed.state;
    const { revisions, failure, forbidden } = await this.#sendAll(depositId, held, send, deadline);
    let last = claimed.position;
    if (revisions.length > 0) {
      last = (await this.#execute({ type: 'RecordDelivered', depositId, revisions })).position;
    }
    if (failure) last = await this.#recordFailure(depositId, revisions.length > 0 ? 0 : attempt, failure);
    if (forbidden === undefined) return last;
    return (await this.giveUp(depositId, forbidden, () => true))?.position ?? last;
  }

  /** Gives up the notifications for which `isOver` returns true. Resolves to their number, if there is any. */
  async giveUp(
    depositId: number,
    reason: string,
    isOver: (notification: HeldNotification) => boolean,
  ): Promise<{ readonly count: number; readonly position: Position } | undefined> {
    const { state } = await readState(this.#parts.log, notifications, depositId);
    const revisions = state.held.filter(isOver).map(({ revision }) => revision);
    if (revisions.length === 0) return undefined;
    const outcome = await this.#execute({ type: 'GiveUp', depositId, revisions, reason });
    return { count: revisions.length, position: outcome.position };
  }

  /** Sends the notifications in order, until one fails or the deadline passes. */
  async #sendAll(
    depositId: number,
    held: readonly HeldNotification[],
    send: Send,
    deadline: number,
  ): Promise<Sent> {
    const revisions: number[] = [];
    for (const { revision } of held) {
      const finding = this.#find(depositId, revision);
      // Accepted ones are recorded first; then the next delivery begins with the error.
      const found = await (revisions.length > 0 ? finding.catch(() => undefined) : finding);
      if (!found || clock.monotonic() > deadline) break; // by now: a log in an outage is read slowly
      if (found instanceof UnreadableEvent) {
        const { message: reason } = found;
        return { revisions, failure: { taken: false, reason, isUnreachable: false, retryAfter: 0 } };
      }
      const { change, forbidden } = found;
      if (forbidden !== undefined) return { revisions, forbidden };
      const outcome = change && (await send(change));
      if (outcome && !outcome.taken) return { revisions, failure: outcome };
      revisions.push(revision);
    }
    return { revisions };
  }

  /** Resolves to the change to send, the reason not to, or the error for an event of a newer release. */
  async #find(depositId: number, revision: number): Promise<Found | UnreadableEvent> {
    try {
      const change = await statusChangeAt(this.#parts.log, depositId, revision);
      return { change, forbidden: change && (await this.#parts.webhooks.refusalReason(change.deposit)) };
    } catch (error) {
      if (error instanceof UnreadableEvent) return error;
      throw error;
    }
  }

  async #recordFailure(depositId: number, attempt: number, failure: Failure): Promise<Position> {
    const { reason } = failure;
    const nextTryAt = iso(clock.now() + retryPause(failure, attempt, this.#parts.settings));
    const outcome = await this.#execute({ type: 'RecordFailed', depositId, attempt, reason, nextTryAt });
    return outcome.position;
  }

  #execute(command: NotificationsCommand): Promise<Outcome<Notifications, NotificationsEvent>> {
    const context = newContext({ kind: 'reactor', name: 'notifier' });
    return handleCommand(this.#parts.log, notifications, command.depositId, command, context);
  }
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
