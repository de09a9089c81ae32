import { type Decider, Refusal } from '../decider.ts';
import type { NotificationHeld, NotificationsEvent } from './events.ts';

export type { NotificationsEvent } from './events.ts';

export type NotificationsCommand =
  | ({ type: 'HoldNotification' } & NotificationHeld['data'])
  /** No try is set for after `latest`, unless by a clock that has been set back since: that one does not count. */
  | { type: 'TryDelivery'; depositId: number; now: string; latest: string; nextTryAt: string }
  | { type: 'RecordDelivered'; depositId: number; upTo: number }
  | { type: 'RecordFailed'; depositId: number; attempt: number; reason: string; nextTryAt: string }
  | { type: 'GiveUp'; depositId: number; upTo: number; reason: string }
  | { type: 'Requeue'; depositId: number; now: string };

/** Notifications of one deposit that were not taken at once. */
export type Notifications = {
  /** Whose deposit it is; `null` while nothing was ever held. */
  readonly owner: { readonly client: string; readonly collection: string } | null;
  /** Those that wait, oldest first. */
  readonly held: readonly HeldNotification[];
  readonly givenUp: readonly HeldNotification[];
  /** Tries since the last delivery. */
  readonly attempt: number;
  /** Nobody tries before; `null`: whenever somebody can. */
  readonly nextTryAt: string | null;
  /** When an operator last wanted them to be tried. */
  readonly requeuedAt: string | null;
  /** Why the last one was held, failed or was given up. */
  readonly reason: string | null;
  /** The highest revision that was ever held; -1 for none. */
  readonly seen: number;
};

export type HeldNotification = {
  readonly eventId: string;
  readonly revision: number;
  readonly heldAt: string;
};

export class NotificationsRefusal extends Refusal<'NOTHING_TO_RETRY'> {}

export const notificationsDecider: Decider<Notifications, NotificationsCommand, NotificationsEvent> = {
  initial: {
    owner: null,
    held: [],
    givenUp: [],
    attempt: 0,
    nextTryAt: null,
    requeuedAt: null,
    reason: null,
    seen: -1,
  },
  decide,
  evolve,
};

function decide(command: NotificationsCommand, state: Notifications): readonly NotificationsEvent[] {
  const { depositId } = command;
  const [oldest] = state.held;
  switch (command.type) {
    case 'HoldNotification': {
      const { type: _, ...data } = command;
      return command.revision <= state.seen ? [] : [{ type: 'NotificationHeld', data }];
    }
    case 'TryDelivery': {
      const { now, latest, nextTryAt } = command;
      const waitsUntil = state.nextTryAt ?? now;
      if (!oldest || (waitsUntil > now && waitsUntil <= latest)) return [];
      return [{ type: 'DeliveryTried', data: { depositId, attempt: state.attempt + 1, nextTryAt } }];
    }
    case 'RecordDelivered':
      if (!oldest || oldest.revision > command.upTo) return [];
      return [{ type: 'NotificationsDelivered', data: { depositId, upTo: command.upTo } }];
    case 'RecordFailed': {
      const { attempt, reason, nextTryAt } = command;
      if (!oldest || attempt !== state.attempt) return [];
      return [{ type: 'DeliveryFailed', data: { depositId, attempt, reason, nextTryAt } }];
    }
    case 'GiveUp': {
      const { upTo, reason } = command;
      if (!oldest || oldest.revision > upTo) return [];
      return [{ type: 'NotificationsGivenUp', data: { depositId, upTo, reason } }];
    }
    case 'Requeue':
      if (!oldest && state.givenUp.length === 0) throw nothingToRetry(depositId);
      return [{ type: 'NotificationsRequeued', data: { depositId, requeuedAt: command.now } }];
    default:
      return command satisfies never;
  }
}

function nothingToRetry(depositId: number): NotificationsRefusal {
  const text = `No notification about deposit ${depositId} waits or was given up.`;
  return new NotificationsRefusal('NOTHING_TO_RETRY', text);
}

function evolve(state: Notifications, event: NotificationsEvent): Notifications {
  switch (event.type) {
    case 'NotificationHeld': {
      const { client, collection, eventId, revision, heldAt, reason } = event.data;
      const { nextTryAt = state.nextTryAt } = state.held.length === 0 ? event.data : state;
      const held = [...state.held, { eventId, revision, heldAt }];
      return { ...state, owner: { client, collection }, held, nextTryAt, reason, seen: revision };
    }
    case 'DeliveryTried':
      return { ...state, attempt: event.data.attempt, nextTryAt: event.data.nextTryAt };
    case 'DeliveryFailed':
      return { ...state, reason: event.data.reason, nextTryAt: event.data.nextTryAt };
    case 'NotificationsDelivered': {
      const held = state.held.filter(({ revision }) => revision > event.data.upTo);
      return { ...state, held, attempt: 0, nextTryAt: null };
    }
    case 'NotificationsGivenUp': {
      const { upTo, reason } = event.data;
      const [over, held] = partition(state.held, ({ revision }) => revision <= upTo);
      return { ...state, held, givenUp: [...state.givenUp, ...over], reason };
    }
    case 'NotificationsRequeued': {
      const { requeuedAt } = event.data;
      // What was given up came before what is held.
      const held = [...state.givenUp, ...state.held].map((one) => ({ ...one, heldAt: requeuedAt }));
      return { ...state, held, givenUp: [], attempt: 0, nextTryAt: null, requeuedAt };
    }
    default:
      return event satisfies never;
  }
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
