import { notifications } from '../src/domain/aggregates.ts';
import type { NotificationsEvent } from '../src/domain/notifications/notifications.ts';
import type { Projection } from '../src/views/projection.ts';

/** The notifications of one deposit that were sent, held or given up, each named by the revision of its event. */
type View = { readonly depositId: number; readonly revisions: readonly number[] };

export const recordedNotifications: Projection<View, NotificationsEvent> = {
  name: 'recorded-notifications',
  version: 1,
  source: notifications,
  when: {
    NotificationHeld: (view, { data }) => withRevisions(view, data.depositId, [data.revision]),
    NotificationsDelivered: (view, { data }) => withRevisions(view, data.depositId, data.revisions ?? []),
    NotificationsGivenUp: (view, { data }) => withRevisions(view, data.depositId, data.revisions ?? []),
  },
};

function withRevisions(view: View | undefined, depositId: number, revisions: readonly number[]): View {
  return { depositId, revisions: [...new Set([...(view?.revisions ?? []), ...revisions])] };
}
