import type { HeldNotification } from '../../domain/notifications/notifications.ts';
import { grantedCollection } from '../../http/iris/deposit-resource.ts';
import { resource } from '../../http/iris/resource.ts';
import type { ServiceMiddleware } from '../../http/service-context.ts';
import type { NotificationViews } from '../../reactors/sweep/notification-views.ts';

/** Maximum number of deposits in the list. */
const MOST = 500;

/** Lists the notifications of a collection that the client has not received: those to be retried and those given up. */
export function notificationsIri({ webhooks, undelivered }: NotificationViews): ServiceMiddleware {
  return resource<string>({
    find: async (ctx) => grantedCollection(ctx),
    handlers: {
      GET: async (ctx, collection) => {
        const { client } = ctx.state.login;
        const webhook = webhooks.get(client);
        const found = undelivered.find({
          equal: { client, collection },
          orderBy: 'depositId',
          limit: MOST + 1,
        });
        ctx.set('Content-Type', 'application/json');
        ctx.body = JSON.stringify({
          webhook: webhook ? { url: webhook.url, set: webhook.setAt } : null,
          deposits: found.slice(0, MOST).map(({ depositId, reason, dueAt, held, givenUp }) => ({
            deposit_id: depositId,
            reason,
            next_try: held.length === 0 ? null : dueAt || null,
            waiting: held.map(toNotificationJson),
            given_up: givenUp.map(toNotificationJson),
          })),
          more: found.length > MOST,
        });
      },
    },
  });
}

function toNotificationJson({ eventId, revision, heldAt }: HeldNotification) {
  return { event_id: eventId, revision, since: heldAt };
}
