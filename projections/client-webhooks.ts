import { clients } from '../src/domain/aggregates.ts';
import type { ClientEvent } from '../src/domain/client/client.ts';
import type { SealedSecret } from '../src/domain/client/webhook.ts';
import type { Projection } from '../src/read-models/projection.ts';

/** Where a client is notified; there is one only while it is. */
export type ClientWebhook = {
  readonly client: string;
  readonly url: string;
  readonly secret: SealedSecret;
  /** Position of the event since which it has had a webhook: it is notified of what comes after. */
  readonly since: string;
  /** Of its stream: changes with the address or the secret. */
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
