import { type Description, describedBy, detail, type Fact, saying } from '../description.ts';
import type { Client, ClientEvent } from './client.ts';

/** What happened to a client, told to a person; of its credentials only that they changed. */
export const describeClientEvent: (event: ClientEvent) => Description = describedBy<ClientEvent>({
  ClientRegistered: ({ client }) => saying(`Client ${client} registered with a password.`),
  CredentialChanged: () => saying('Password changed.'),
  ClientDisabled: () => saying('Client disabled: it cannot log in.'),
  ClientEnabled: () => saying('Client enabled: it can log in again.'),
  CollectionGranted: ({ collection }) => saying(`Collection ${collection} granted.`),
  CollectionRevoked: ({ collection }) => saying(`Collection ${collection} revoked.`),
  DomainSet: ({ domain }) =>
    domain === null ? saying('Domain removed.') : saying('Domain set.', detail('domain', domain)),
  ProviderUrlSet: ({ providerUrl }) =>
    providerUrl === null
      ? saying('Provider URL removed.')
      : saying('Provider URL set.', detail('provider URL', providerUrl)),
  WebhookSet: ({ url }) => saying('Webhook set, with a new secret.', detail('webhook', url)),
  WebhookRemoved: () => saying('Webhook removed.'),
});

/** All that is known of a client besides its status, told to a person. */
export function clientFacts(client: Client): readonly Fact[] {
  if (client.status === 'unknown') return [];
  const { collections, domain, providerUrl, webhook } = client;
  return [
    { label: 'collections', values: collections },
    { label: 'domain', values: domain === null ? [] : [domain] },
    { label: 'provider URL', values: providerUrl === null ? [] : [providerUrl] },
    { label: 'webhook', values: webhook === undefined ? [] : [webhook] },
  ];
}
