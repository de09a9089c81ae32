import type { HeldNotification } from '../../domain/notifications/notifications.ts';
import type { NotificationViews } from '../../notifications/notification-views.ts';
import { grantedCollection } from '../deposit-resource.ts';
import { resource } from '../resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** Deposits that are listed; of more, only that there are more. */
const MOST = 500;

/** What the client has not been notified of in a collection: what waits to be tried again, and what was given up. */
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
            waiting: held.map(told),
            given_up: givenUp.map(told),
          })),
          more: found.length > MOST,
        });
      },
    },
  });
}

function told({ eventId, revision, heldAt }: HeldNotification) {
  return { event_id: eventId, revision, since: heldAt };
}
