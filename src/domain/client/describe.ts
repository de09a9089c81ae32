import { type Description, describedBy, description, detail, type Fact } from '../description.ts';
import type { Client, ClientEvent } from './client.ts';

/** Describes an event of a client in plain text. Of its credentials, the text says only that they changed. */
export const describeClientEvent: (event: ClientEvent) => Description = describedBy<ClientEvent>({
  ClientRegistered: ({ client }) => description(`Client ${client} registered with a password.`),
  CredentialChanged: () => description('Password changed.'),
  ClientDisabled: () => description('Client disabled: it cannot log in.'),
  ClientEnabled: () => description('Client enabled: it can log in again.'),
  CollectionGranted: ({ collection }) => description(`Collection ${collection} granted.`),
  CollectionRevoked: ({ collection }) => description(`Collection ${collection} revoked.`),
  DomainSet: ({ domain }) =>
    domain === null ? description('Domain removed.') : description('Domain set.', detail('domain', domain)),
  ProviderUrlSet: ({ providerUrl }) =>
    providerUrl === null
      ? description('Provider URL removed.')
      : description('Provider URL set.', detail('provider URL', providerUrl)),
  WebhookSet: ({ url }) => description('Webhook set, with a new secret.', detail('webhook', url)),
  WebhookRemoved: () => description('Webhook removed.'),
});

/** Returns all facts about a client except its status, for operators to read. */
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
