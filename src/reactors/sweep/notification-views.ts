import { clientLogins } from '../../../projections/client-logins.ts';
import { clientWebhooks } from '../../../projections/client-webhooks.ts';
import { deletedDeposits } from '../../../projections/deleted-deposits.ts';
import { depositStatus } from '../../../projections/deposit-status.ts';
import { recordedNotifications } from '../../../projections/recorded-notifications.ts';
import { undeliveredNotifications } from '../../../projections/undelivered-notifications.ts';
import type { Projector } from '../../views/projector.ts';

/** The views from which a node checks deposits, notifies clients and finds unsent notifications. */
export type NotificationViews = Readonly<ReturnType<typeof notificationViews>>;

/** Adds the views to a projector that has not started yet. */
export function notificationViews(projector: Projector) {
  return {
    webhooks: projector.add(clientWebhooks),
    undelivered: projector.add(undeliveredNotifications),
    recorded: projector.add(recordedNotifications),
    deleted: projector.add(deletedDeposits),
    statuses: projector.add(depositStatus),
    logins: projector.add(clientLogins),
  };
}
