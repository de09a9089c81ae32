import { type Decider, Refusal } from '../decider.ts';
import type { HeldData, NotificationsEvent } from './events.ts';

export type { NotificationsEvent } from './events.ts';

export type NotificationsCommand =
  | ({ type: 'HoldNotification' } & HeldData)
  /**
   * No attempt is scheduled later than `latest`, except by a clock that was set back since; such a time does not count.
   */
  | { type: 'TryDelivery'; depositId: number; now: string; latest: string; nextTryAt: string }
  | { type: 'RecordDelivered'; depositId: number; revisions: readonly number[] }
  | { type: 'RecordFailed'; depositId: number; attempt: number; reason: string; nextTryAt: string }
  | { type: 'GiveUp'; depositId: number; revisions: readonly number[]; reason: string }
  | { type: 'Requeue'; depositId: number; now: string };

/** State of the notifications of one deposit. */
export type Notifications = {
  /** Client and collection of the deposit; `null` while nothing was ever held. */
  readonly owner: { readonly client: string; readonly collection: string } | null;
  /** Revisions that the receiver accepted or that were given up, in the order in which that happened. */
  readonly settled: readonly number[];
  /** Notifications that wait, ordered by revision. */
  readonly held: readonly HeldNotification[];
  readonly givenUp: readonly HeldNotification[];
  /** Number of attempts since the last delivery. */
  readonly attempt: number;
  /** Earliest time of the next attempt; `null` for at once. */
  readonly nextTryAt: string | null;
  /** When an operator last requested a retry. */
  readonly requeuedAt: string | null;
  /** Why the last one was held, failed or was given up. */
  readonly reason: string | null;
};

export type HeldNotification = {
  readonly eventId: string;
  readonly revision: number;
  readonly heldAt: string;
};

class NotificationsRefusal extends Refusal<'NOTHING_TO_RETRY'> {}

export const notificationsDecider: Decider<Notifications, NotificationsCommand, NotificationsEvent> = {
  initial: {
    owner: null,
    settled: [],
    held: [],
    givenUp: [],
    attempt: 0,
    nextTryAt: null,
    requeuedAt: null,
    reason: null,
  },
  decide,
  evolve,
};

/** Whether a notification was sent, given up, or waits to be sent. */
export function isRecorded(
  { settled, held }: Pick<Notifications, 'settled' | 'held'>,
  revision: number,
): boolean {
  return settled.includes(revision) || includes(held, revision);
}

function decide(command: NotificationsCommand, state: Notifications): readonly NotificationsEvent[] {
  const { depositId } = command;
  const [oldest] = state.held;
  switch (command.type) {
    case 'HoldNotification': {
      const { type: _, ...data } = command;
      return isRecorded(state, command.revision) ? [] : [{ type: 'NotificationHeld', data }];
    }
    case 'TryDelivery': {
      const { now, latest, nextTryAt } = command;
      const waitsUntil = state.nextTryAt ?? now;
      if (!oldest || (waitsUntil > now && waitsUntil <= latest)) return [];
      return [{ type: 'DeliveryTried', data: { depositId, attempt: state.attempt + 1, nextTryAt } }];
    }
    case 'RecordDelivered': {
      const outcome = outcomeOf(command.revisions, state);
      return outcome ? [{ type: 'NotificationsDelivered', data: { depositId, ...outcome } }] : [];
    }
    case 'RecordFailed': {
      const { attempt, reason, nextTryAt } = command;
      if (!oldest || attempt !== state.attempt) return [];
      return [{ type: 'DeliveryFailed', data: { depositId, attempt, reason, nextTryAt } }];
    }
    case 'GiveUp': {
      const outcome = outcomeOf(command.revisions, { ...state, givenUp: [] });
      const { reason } = command;
      return outcome ? [{ type: 'NotificationsGivenUp', data: { depositId, ...outcome, reason } }] : [];
    }
    case 'Requeue':
      if (!oldest && state.givenUp.length === 0) throw nothingToRetry(depositId);
      return [{ type: 'NotificationsRequeued', data: { depositId, requeuedAt: command.now } }];
    default:
      return command satisfies never;
  }
}

/** Returns the revisions with a new outcome, if any. `upTo` excludes held ones, for readers that know only `upTo`. */
function outcomeOf(
  revisions: readonly number[],
  { settled, held, givenUp }: Notifications,
): { upTo: number; revisions: readonly number[] } | undefined {
  const isOpen = (revision: number): boolean =>
    includes(held, revision) || includes(givenUp, revision) || !settled.includes(revision);
  const fresh = [...new Set(revisions)].filter(isOpen).sort((a, b) => a - b);
  const last = fresh.at(-1);
  if (last === undefined) return undefined;
  const stays = held.find(({ revision }) => !fresh.includes(revision));
  return { upTo: stays ? Math.min(last, stays.revision - 1) : last, revisions: fresh };
}

function nothingToRetry(depositId: number): NotificationsRefusal {
  const text = `No notification about deposit ${depositId} is waiting or expired.`;
  return new NotificationsRefusal('NOTHING_TO_RETRY', text);
}

function evolve(state: Notifications, event: NotificationsEvent): Notifications {
  switch (event.type) {
    case 'NotificationHeld': {
      const { client, collection, eventId, revision, heldAt, reason } = event.data;
      const { nextTryAt = state.nextTryAt } = state.held.length === 0 ? event.data : state;
      const held = inOrder([...state.held, { eventId, revision, heldAt }]);
      return { ...state, owner: { client, collection }, held, nextTryAt, reason };
    }
    case 'DeliveryTried':
      return { ...state, attempt: event.data.attempt, nextTryAt: event.data.nextTryAt };
    case 'DeliveryFailed':
      return { ...state, reason: event.data.reason, nextTryAt: event.data.nextTryAt };
    case 'NotificationsDelivered': {
      const { settled, held } = settledBy(event.data, state);
      const givenUp = state.givenUp.filter(({ revision }) => !event.data.revisions?.includes(revision));
      // An immediate delivery says nothing about the attempts for held notifications.
      if (held.length === state.held.length) return { ...state, settled, givenUp };
      return { ...state, settled, held, givenUp, attempt: 0, nextTryAt: null };
    }
    case 'NotificationsGivenUp': {
      const { settled, held } = settledBy(event.data, state);
      const over = state.held.filter((notification) => !held.includes(notification));
      const { reason } = event.data;
      return { ...state, settled, held, givenUp: [...state.givenUp, ...over], reason };
    }
    case 'NotificationsRequeued': {
      const { requeuedAt } = event.data;
      const held = inOrder([...state.givenUp, ...state.held]).map((one) => ({ ...one, heldAt: requeuedAt }));
      return { ...state, held, givenUp: [], attempt: 0, nextTryAt: null, requeuedAt };
    }
    default:
      return event satisfies never;
  }
}

function settledBy(
  { upTo, revisions }: { readonly upTo: number; readonly revisions?: readonly number[] },
  { settled, held }: Notifications,
): Pick<Notifications, 'settled' | 'held'> {
  const over = revisions ?? held.map(({ revision }) => revision).filter((revision) => revision <= upTo);
  return {
    settled: [...new Set([...settled, ...over])],
    held: held.filter(({ revision }) => !over.includes(revision)),
  };
}

function inOrder(held: readonly HeldNotification[]): readonly HeldNotification[] {
  return held.toSorted((a, b) => a.revision - b.revision);
}

function includes(held: readonly HeldNotification[], revision: number): boolean {
  return held.some((notification) => notification.revision === revision);
}
