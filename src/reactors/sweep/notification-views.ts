import { type ClientLogin, clientLogins } from '../../../projections/client-logins.ts';
import { type ClientWebhook, clientWebhooks } from '../../../projections/client-webhooks.ts';
import { type DeletedDeposit, deletedDeposits } from '../../../projections/deleted-deposits.ts';
import { type DepositStatusView, depositStatus } from '../../../projections/deposit-status.ts';
import {
  type RecordedNotifications,
  recordedNotifications,
} from '../../../projections/recorded-notifications.ts';
import {
  type UndeliveredNotifications,
  undeliveredNotifications,
} from '../../../projections/undelivered-notifications.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';

/** The views from which a node checks deposits, notifies clients and finds unsent notifications. */
export type NotificationViews = {
  readonly webhooks: View<ClientWebhook>;
  readonly undelivered: View<UndeliveredNotifications>;
  readonly recorded: View<RecordedNotifications>;
  readonly deleted: View<DeletedDeposit>;
  readonly statuses: View<DepositStatusView>;
  readonly logins: View<ClientLogin>;
};

/** Adds the views to a projector that has not started yet. */
export function notificationViews(projector: Projector): NotificationViews {
  return {
    webhooks: projector.add(clientWebhooks),
    undelivered: projector.add(undeliveredNotifications),
    recorded: projector.add(recordedNotifications),
    deleted: projector.add(deletedDeposits),
    statuses: projector.add(depositStatus),
    logins: projector.add(clientLogins),
  };
}
