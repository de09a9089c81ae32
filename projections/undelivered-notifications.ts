import { notifications } from '../src/domain/aggregates.ts';
import {
  type Notifications,
  type NotificationsEvent,
  notificationsDecider,
} from '../src/domain/notifications/notifications.ts';
import type { Projection, Recorded } from '../src/views/projection.ts';

/** The undelivered notifications about one deposit; the row exists only while one waits or was given up. */
export type UndeliveredNotifications = Pick<
  Notifications,
  'held' | 'givenUp' | 'attempt' | 'reason' | 'requeuedAt'
> & {
  readonly depositId: number;
  readonly client: string;
  readonly collection: string;
  /** The client while a notification waits to be delivered, else empty. */
  readonly waitingFor: string;
  /** When to try again, and since when the oldest has waited: RFC 3339, empty for at once and for never. */
  readonly dueAt: string;
  readonly heldSince: string;
};

type View = UndeliveredNotifications;
type Handler = (view: View | undefined, event: NotificationsEvent & Recorded) => View | undefined;

/** Applies the rules of the domain to the view, which adds the fields for queries. */
const evolveView: Handler = (view, event) => {
  const { initial, evolve } = notificationsDecider;
  const before = view && {
    ...view,
    owner: { client: view.client, collection: view.collection },
    nextTryAt: view.dueAt || null,
    settled: [], // affects only what is recorded as new, and this view omits what is settled
  };
  return toView(event.data.depositId, evolve(before ?? initial, event));
};

export const undeliveredNotifications: Projection<View, NotificationsEvent> = {
  name: 'undelivered-notifications',
  version: 3,
  source: notifications,
  indexes: [
    ['waitingFor', 'dueAt'],
    ['waitingFor', 'heldSince'],
    ['waitingFor', 'requeuedAt'],
    ['client', 'collection', 'depositId'],
  ],
  countedBy: ['waitingFor'],
  when: {
    NotificationHeld: evolveView,
    DeliveryTried: evolveView,
    DeliveryFailed: evolveView,
    NotificationsDelivered: evolveView,
    NotificationsGivenUp: evolveView,
    NotificationsRequeued: evolveView,
  },
};

function toView(depositId: number, { owner, ...state }: Notifications): View | undefined {
  const { held, givenUp, attempt, reason, requeuedAt } = state;
  if (!owner || (held.length === 0 && givenUp.length === 0)) return undefined;
  return {
    depositId,
    client: owner.client,
    collection: owner.collection,
    waitingFor: held.length > 0 ? owner.client : '',
    dueAt: state.nextTryAt ?? '',
    heldSince: held[0]?.heldAt ?? '',
    held,
    givenUp,
    attempt,
    reason,
    requeuedAt,
  };
}
