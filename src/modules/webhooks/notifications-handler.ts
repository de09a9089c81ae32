import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import type { UndeliveredNotifications } from '../../../projections/undelivered-notifications.ts';
import type { HeldNotification } from '../../domain/notifications/notifications.ts';
import { resource } from '../../http/iris/resource.ts';
import { grantedCollection } from '../../http/requests/path-names.ts';
import { answerDocument } from '../../http/responses/representation.ts';
import type { ServiceMiddleware } from '../../http/service-context.ts';
import type { NotificationViews } from '../../reactors/sweep/notification-views.ts';
import type { Document, Fact, Part, RenderContext } from '../../sword/documents/document.ts';
import { render } from '../../sword/documents/render.ts';
import { FACTS_OFFERS, negotiate } from '../../sword/headers/accept.ts';

/** Maximum number of deposits in the list. */
const MOST = 500;

/** Lists the notifications of a collection that the client has not received: those to be retried and those given up. */
export function notificationsHandler(
  { webhooks, undelivered }: NotificationViews,
  renderContext: RenderContext,
): ServiceMiddleware {
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
        const document = notificationsDocument(webhook, found.slice(0, MOST), found.length > MOST);
        const { contentType, format } = negotiate(FACTS_OFFERS, ctx.req.headers.accept);
        ctx.vary('Accept');
        answerDocument(ctx, contentType, render(document, format, renderContext));
      },
    },
  });
}

function notificationsDocument(
  webhook: ClientWebhook | undefined,
  deposits: readonly UndeliveredNotifications[],
  more: boolean,
): Document {
  const element = 'notifications';
  return {
    element,
    facts: [
      { name: 'webhook', value: webhook ? { url: webhook.url, set: webhook.setAt } : null },
      { name: 'deposits', parts: deposits.map((deposit) => ({ element, facts: factsOf(deposit) })) },
      { name: 'more', value: more },
    ],
  };
}

function factsOf({ depositId, reason, dueAt, held, givenUp }: UndeliveredNotifications): readonly Fact[] {
  const partOf = ({ eventId, revision, heldAt }: HeldNotification): Part => {
    const facts = Object.entries({ event_id: eventId, revision, since: heldAt });
    return { element: 'notification', facts: facts.map(([name, value]) => ({ name, value })) };
  };
  return [
    { name: 'deposit_id', value: depositId },
    { name: 'reason', value: reason },
    { name: 'next_try', value: held.length === 0 ? null : dueAt || null },
    { name: 'waiting', parts: held.map(partOf) },
    { name: 'given_up', parts: givenUp.map(partOf) },
  ];
}
