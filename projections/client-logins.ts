import { clients } from '../src/domain/aggregates.ts';
import type { ClientEvent, Credential } from '../src/domain/client/client.ts';
import type { Projection } from '../src/views/projection.ts';

/** The credentials and permissions of a client. */
export type ClientLogin = {
  readonly client: string;
  readonly credential: Credential;
  /** Changes with the password, which invalidates cached logins. */
  readonly credentialRevision: number;
  readonly disabled: boolean;
  readonly collections: readonly string[];
  readonly domain: string | null;
  readonly providerUrl: string | null;
};

export const clientLogins: Projection<ClientLogin, ClientEvent> = {
  name: 'client-logins',
  version: 1,
  source: clients,
  when: {
    ClientRegistered: (_, { data: { client, credential }, revision }) => ({
      client,
      credential,
      credentialRevision: revision,
      disabled: false,
      collections: [],
      domain: null,
      providerUrl: null,
    }),
    CredentialChanged: (login, { data, revision }) =>
      login && { ...login, credential: data.credential, credentialRevision: revision },
    ClientDisabled: (login) => login && { ...login, disabled: true },
    ClientEnabled: (login) => login && { ...login, disabled: false },
    CollectionGranted: (login, { data }) =>
      login && { ...login, collections: [...login.collections, data.collection] },
    CollectionRevoked: (login, { data }) =>
      login && { ...login, collections: login.collections.filter((name) => name !== data.collection) },
    DomainSet: (login, { data }) => login && { ...login, domain: data.domain },
    ProviderUrlSet: (login, { data }) => login && { ...login, providerUrl: data.providerUrl },
  },
};
