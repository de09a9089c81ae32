import { notifications } from '../src/domain/aggregates.ts';
import {
  type Notifications,
  type NotificationsEvent,
  notificationsDecider,
} from '../src/domain/notifications/notifications.ts';
import type { Projection, Recorded } from '../src/read-models/projection.ts';

/** What a client has not been told about one deposit: there is a view only while something waits or was given up. */
export type UndeliveredNotifications = Pick<
  Notifications,
  'held' | 'givenUp' | 'attempt' | 'reason' | 'requeuedAt'
> & {
  readonly depositId: number;
  readonly client: string;
  readonly collection: string;
  /** The client while something waits to be delivered, else empty. */
  readonly waitingFor: string;
  /** When to try again, and since when the oldest has waited: RFC 3339, empty for at once and for never. */
  readonly dueAt: string;
  readonly heldSince: string;
};

type View = UndeliveredNotifications;
type Handler = (view: View | undefined, event: NotificationsEvent & Recorded) => View | undefined;

/** The rules of the domain decide what is left; here is told how it is found. */
const evolved: Handler = (view, event) => {
  const { initial, evolve } = notificationsDecider;
  const before = view && {
    ...view,
    owner: { client: view.client, collection: view.collection },
    nextTryAt: view.dueAt || null,
    settled: [], // decides only what is recorded, and this shows what was
  };
  return shown(event.data.depositId, evolve(before ?? initial, event));
};

export const undeliveredNotifications: Projection<View, NotificationsEvent> = {
  name: 'undelivered-notifications',
  version: 2,
  source: notifications,
  indexes: [
    ['waitingFor', 'dueAt'],
    ['waitingFor', 'heldSince'],
    ['waitingFor', 'requeuedAt'],
    ['client', 'collection', 'depositId'],
  ],
  countedBy: ['waitingFor'],
  when: {
    NotificationHeld: evolved,
    DeliveryTried: evolved,
    DeliveryFailed: evolved,
    NotificationsDelivered: evolved,
    NotificationsGivenUp: evolved,
    NotificationsRequeued: evolved,
  },
};

function shown(depositId: number, { owner, ...state }: Notifications): View | undefined {
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
