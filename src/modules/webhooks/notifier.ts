import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { handleCommand, readState } from '../../deposits/command-handler.ts';
import { isStatusChange, type StatusChange, statusChangesUpTo } from '../../deposits/status-change.ts';
import type { StreamState } from '../../deposits/stream-state.ts';
import { deposits, notifications } from '../../domain/aggregates.ts';
import type { HeldData } from '../../domain/notifications/events.ts';
import {
  isRecorded,
  type Notifications,
  type NotificationsCommand,
} from '../../domain/notifications/notifications.ts';
import { type EventLog, occurredAt, type RecordedEvent } from '../../event-log/event-log.ts';
import { commandContext, depositIdOf } from '../../reactors/command-context.ts';
import { ownerOf } from '../../reactors/deposit-reactors.ts';
import type { EventLogParking } from '../../reactors/parking.ts';
import type { Reactor } from '../../reactors/reactor.ts';
import { clock } from '../../tools/clock.ts';
import { messageOf } from '../../tools/coded-error.ts';
import type { View } from '../../views/view.ts';
import { unlessUnavailable } from '../../views/view-unavailable.ts';
import { retryPause } from './circuit-breaker.ts';
import type { NotificationSettings } from './notification-settings.ts';
import type { Failure } from './webhook-client.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { Webhooks } from './webhooks.ts';

const EARLIER_WAITING = 'Earlier notifications about the deposit wait.';
/** Time for a node that sends a notification to record that, in milliseconds. */
const IN_FLIGHT_MS = 12_000;

type NotifierParts = {
  readonly log: EventLog;
  readonly parking: Pick<EventLogParking, 'parkedOrSkipped'>;
  readonly webhooks: Webhooks;
  readonly sender: WebhookSender;
  readonly settings: Omit<NotificationSettings, 'keyFile' | 'allowPrivate'>;
  readonly statuses: Pick<View<DepositStatusView>, 'get'>;
};

/** Reason why a notification is held, and time of the retry; `null`: at any time. */
type HoldReason = Pick<HeldData, 'reason'> & { readonly nextTryAt: string | null };

type Due = {
  readonly change: StatusChange;
  readonly webhook: ClientWebhook;
  readonly recorded: StreamState<Notifications>;
  /** Earlier events without a recorded outcome, oldest first. */
  readonly missing: readonly StatusChange[];
};

/**
 * Notifies clients of their deposits as events happen, and records each accepted notification. A node sends one only if
 * all earlier ones of the deposit are recorded as sent, held or given up. Otherwise it is held in the log, after them,
 * to be delivered by any node.
 */
export class Notifier implements Reactor {
  readonly name = 'notifier';
  readonly streamPrefix = deposits.prefix;
  readonly #parts: NotifierParts;
  #tooOld = 0;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Number of events since the start that were too old to be sent. */
  get tooOld(): number {
    return this.#tooOld;
  }

  reactsTo(event: RecordedEvent): boolean {
    return isStatusChange(event) && this.#parts.webhooks.mayBeAnyAt(event.position);
  }

  /**
   * Waits for the views first: if no client has a webhook, the owner does not matter, and the view of a deposit has its
   * client. The log is read for a deposit that was deleted, or while the views are behind or damaged.
   */
  async ownerOf(event: RecordedEvent): Promise<string> {
    const { log, webhooks } = this.#parts;
    await webhooks.waitForView(event.position);
    if (!webhooks.mayBeAnyAt(event.position)) return event.stream;
    return this.#shownOwnerOf(event) ?? (await ownerOf(log, event));
  }

  async hasWork(event: RecordedEvent): Promise<boolean> {
    return !this.#isTooOld(event) && (await this.#unrecorded(event)) !== undefined;
  }

  async react(event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const due = await this.#due(event);
    if (!due) return;
    const { missing, recorded } = due;
    const newest = missing.at(-1);
    if (newest) return this.#hold(event, due, afterInFlight(newest.event));
    const { held: earlier, reason } = recorded.state;
    if (earlier.length > 0) return this.#hold(event, due, retryAnytime(reason ?? EARLIER_WAITING));
    const held = await this.#deliver(due, signal);
    if (held) return this.#hold(event, due, held);
    const { depositId } = due.change.deposit;
    const sent = { type: 'RecordDelivered', depositId, revisions: [event.revision] } as const;
    await this.#record(event, depositId, sent, 'sent', recorded);
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const due = await this.#due(event);
    if (due) await this.#hold(event, due, retryAnytime(messageOf(error)));
  }

  /** Resolves to the notification to send; `undefined` if nothing is to be sent or the outcome is recorded. */
  async #due(event: RecordedEvent): Promise<Due | undefined> {
    const found = await this.#unrecorded(event);
    if (!found) return undefined;
    if (this.#isTooOld(event)) {
      this.#tooOld += 1;
      return undefined;
    }
    const { depositId, earlier: all, change, webhook, recorded } = found;
    const missing = await this.#withoutParked(
      all.filter(
        ({ event: earlier }) =>
          webhook.since < earlier.position &&
          !isRecorded(recorded.state, earlier.revision) &&
          !this.#isTooOld(earlier),
      ),
    );
    const forbidden = await this.#parts.webhooks.refusalReason(change.deposit);
    if (forbidden === undefined) return { change, webhook, recorded, missing };
    const revisions = [...missing, change].map((one) => one.event.revision);
    await this.#record(
      event,
      depositId,
      { type: 'GiveUp', depositId, revisions, reason: forbidden },
      'skip',
      recorded,
    );
    return undefined;
  }

  /** Resolves to a notification that a client wants and that has no recorded outcome, and to the earlier changes. */
  async #unrecorded(event: RecordedEvent) {
    const { log, webhooks } = this.#parts;
    if (!webhooks.mayBeAnyAt(event.position)) return undefined;
    const owner = this.#shownOwnerOf(event);
    if (owner !== undefined && !(await webhooks.at(owner, event.position))) return undefined;
    const depositId = depositIdOf(event);
    const earlier = await statusChangesUpTo(log, depositId, event.revision);
    const change = earlier.pop();
    if (change?.event.revision !== event.revision) return undefined;
    const webhook = await webhooks.at(change.deposit.client, event.position);
    if (!webhook) return undefined;
    const recorded = await readState(log, notifications, depositId);
    if (isRecorded(recorded.state, event.revision)) return undefined;
    return { depositId, earlier, change, webhook, recorded };
  }

  /** Returns the client of the event's deposit, which never changes, if the view has it and can be read. */
  #shownOwnerOf(event: RecordedEvent): string | undefined {
    const look = () => this.#parts.statuses.get(String(depositIdOf(event)))?.client;
    return unlessUnavailable(look, () => undefined);
  }

  /** Filters out parked events, which wait for an operator and block no others. */
  async #withoutParked(changes: readonly StatusChange[]): Promise<readonly StatusChange[]> {
    if (changes.length === 0) return changes;
    const parked = await this.#parts.parking.parkedOrSkipped(this.name);
    return changes.filter(({ event }) => !parked.has(event.id));
  }

  /**
   * Returns whether an event is too old. This prevents a log restored from a backup, without this reactor's position,
   * from sending everything again.
   */
  #isTooOld(event: RecordedEvent): boolean {
    return Date.parse(occurredAt(event)) < clock.now() - this.#parts.settings.giveUpAfter;
  }

  /** Delivers the notification; if the receiver did not accept it, resolves to the reason and time for holding it. */
  async #deliver({ change, webhook }: Due, signal: AbortSignal): Promise<HoldReason | undefined> {
    const breaker = this.#parts.sender.breakerOf(webhook);
    const unavailable = await breaker.acquire();
    if (unavailable !== undefined) return retryAnytime(unavailable);
    try {
      const outcome = await this.#parts.sender.deliver(webhook, breaker, change, signal);
      return outcome.taken ? undefined : this.#heldAfter(outcome);
    } finally {
      breaker.release();
    }
  }

  #heldAfter(failure: Failure): HoldReason {
    const pause = retryPause(failure, 1, this.#parts.settings);
    return pause === 0 ? retryAnytime(failure.reason) : retryNotBefore(clock.now() + pause, failure.reason);
  }

  /** Holds every earlier event without an outcome, then the event itself, so that the order is preserved. */
  async #hold(cause: RecordedEvent, { missing, change }: Due, held: HoldReason): Promise<void> {
    for (const { event, deposit } of [...missing, change]) {
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
    from?: StreamState<Notifications>,
  ): Promise<void> {
    const context = commandContext(cause, this.name, step);
    await handleCommand(this.#parts.log, notifications, depositId, command, context, { from });
  }
}

/** Holds a notification after an earlier one that another node may be sending now. */
function afterInFlight(earlier: RecordedEvent): HoldReason {
  const sentAt = Math.min(Date.parse(occurredAt(earlier)), clock.now()); // the clock of its node may be ahead
  const doneAt = sentAt + IN_FLIGHT_MS;
  return doneAt > clock.now() ? retryNotBefore(doneAt, EARLIER_WAITING) : retryAnytime(EARLIER_WAITING);
}

function retryNotBefore(milliseconds: number, reason: string): HoldReason {
  return { reason, nextTryAt: new Date(milliseconds).toISOString() };
}

function retryAnytime(reason: string): HoldReason {
  return { reason, nextTryAt: null };
}
