import { type ClientWebhook, clientWebhooks } from '../../projections/client-webhooks.ts';
import {
  type UndeliveredNotifications,
  undeliveredNotifications,
} from '../../projections/undelivered-notifications.ts';
import type { Projector, View } from '../read-models/projector.ts';

/** What every node knows of notifications. */
export type NotificationViews = {
  readonly webhooks: View<ClientWebhook>;
  readonly undelivered: View<UndeliveredNotifications>;
};

/** Before the projector starts. */
export function notificationViews(projector: Projector): NotificationViews {
  return { webhooks: projector.add(clientWebhooks), undelivered: projector.add(undeliveredNotifications) };
}
