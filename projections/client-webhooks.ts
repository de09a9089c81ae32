import { clients } from '../src/domain/aggregates.ts';
import type { ClientEvent } from '../src/domain/client/client.ts';
import type { SealedSecret } from '../src/domain/client/webhook.ts';
import type { Projection } from '../src/views/projection.ts';

/** The webhook of a client; the row exists only while the client has one. */
export type ClientWebhook = {
  readonly client: string;
  readonly url: string;
  readonly secret: SealedSecret;
  /** Position of the event that first set a webhook; the client is notified of later events. */
  readonly since: string;
  /** Revision of the client's stream, which changes with the address or the secret. */
  readonly revision: number;
  /** RFC 3339, UTC. */
  readonly setAt: string;
};

export const clientWebhooks: Projection<ClientWebhook, ClientEvent> = {
  name: 'client-webhooks',
  version: 1,
  source: clients,
  when: {
    WebhookSet: (before, { data: { client, url, secret }, revision, position, occurredAt }) => ({
      client,
      url,
      secret,
      since: before?.since ?? position,
      revision,
      setAt: occurredAt,
    }),
    WebhookRemoved: () => undefined,
  },
};
