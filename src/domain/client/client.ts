import { type Decider, Refusal } from '../decider.ts';
import { isOriginTooLong, MAX_ORIGIN_BYTES, originBelow } from '../deposit/metadata/origin.ts';
import { type SealedSecret, webhookUrl } from './webhook.ts';

/** Events of a client. */
export type ClientEvent =
  | { type: 'ClientRegistered'; data: { client: string; credential: Credential } }
  | { type: 'CredentialChanged'; data: { client: string; credential: Credential } }
  | { type: 'ClientDisabled'; data: { client: string } }
  | { type: 'ClientEnabled'; data: { client: string } }
  | { type: 'CollectionGranted'; data: { client: string; collection: string } }
  | { type: 'CollectionRevoked'; data: { client: string; collection: string } }
  | { type: 'DomainSet'; data: { client: string; domain: string | null } }
  | { type: 'ProviderUrlSet'; data: { client: string; providerUrl: string | null } }
  | { type: 'WebhookSet'; data: { client: string; url: string; secret: SealedSecret } }
  | { type: 'WebhookRemoved'; data: { client: string } };

/** The scrypt digest of a password, its salt (base64 each) and the cost parameters; never the password itself. */
export type Credential = {
  readonly scheme: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly digest: string;
};

export type ClientCommand =
  | { type: 'RegisterClient'; client: string; credential: Credential }
  | { type: 'ChangeCredential'; client: string; credential: Credential }
  | { type: 'DisableClient'; client: string }
  | { type: 'EnableClient'; client: string }
  | { type: 'GrantCollection'; client: string; collection: string }
  | { type: 'RevokeCollection'; client: string; collection: string }
  | { type: 'SetDomain'; client: string; domain: string | null }
  | { type: 'SetProviderUrl'; client: string; providerUrl: string | null }
  | { type: 'SetWebhook'; client: string; url: string; secret: SealedSecret }
  | { type: 'RemoveWebhook'; client: string };

export type Client =
  | { readonly status: 'unknown' }
  | {
      readonly status: 'active' | 'disabled';
      readonly collections: readonly string[];
      readonly domain: string | null;
      readonly providerUrl: string | null;
      /** URL to which notifications are sent; absent if the client gets none. */
      readonly webhook?: string;
    };

export type ClientRefusalCode =
  | 'CLIENT_EXISTS'
  | 'CLIENT_UNKNOWN'
  | 'BAD_CLIENT_NAME'
  | 'BAD_DOMAIN'
  | 'BAD_PROVIDER_URL'
  | 'BAD_WEBHOOK';
export class ClientRefusal extends Refusal<ClientRefusalCode> {}

export const clientDecider: Decider<Client, ClientCommand, ClientEvent> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};

type Registered = Exclude<Client, { status: 'unknown' }>;

function decide(command: ClientCommand, client: Client): readonly ClientEvent[] {
  const name = command.client;
  if (command.type === 'RegisterClient') return register(command, client);
  if (client.status === 'unknown') throw new ClientRefusal('CLIENT_UNKNOWN', `Client ${name} not found.`);
  return decideRegistered(command, client);
}

type AfterRegistration = Exclude<ClientCommand, { type: 'RegisterClient' }>;

function decideRegistered(command: AfterRegistration, present: Registered): readonly ClientEvent[] {
  const { client } = command;
  switch (command.type) {
    case 'ChangeCredential':
      return [{ type: 'CredentialChanged', data: { client, credential: command.credential } }];
    case 'DisableClient':
      return present.status === 'disabled' ? [] : [{ type: 'ClientDisabled', data: { client } }];
    case 'EnableClient':
      return present.status === 'active' ? [] : [{ type: 'ClientEnabled', data: { client } }];
    case 'GrantCollection': {
      const { collection } = command;
      if (present.collections.includes(collection)) return [];
      return [{ type: 'CollectionGranted', data: { client, collection } }];
    }
    case 'RevokeCollection': {
      const { collection } = command;
      if (!present.collections.includes(collection)) return [];
      return [{ type: 'CollectionRevoked', data: { client, collection } }];
    }
    case 'SetDomain': {
      const domain = command.domain === null ? null : hostOf(command.domain);
      return domain === present.domain ? [] : [{ type: 'DomainSet', data: { client, domain } }];
    }
    case 'SetProviderUrl': {
      const providerUrl = acceptedProviderUrl(command.providerUrl);
      if (providerUrl === present.providerUrl) return [];
      return [{ type: 'ProviderUrlSet', data: { client, providerUrl } }];
    }
    case 'SetWebhook': {
      const accepted = webhookUrl(command.url);
      if ('problem' in accepted) throw new ClientRefusal('BAD_WEBHOOK', accepted.problem);
      // Recorded even if the address is unchanged, because the secret is new.
      return [{ type: 'WebhookSet', data: { client, url: accepted.url, secret: command.secret } }];
    }
    case 'RemoveWebhook':
      return present.webhook === undefined ? [] : [{ type: 'WebhookRemoved', data: { client } }];
    default:
      return command satisfies never;
  }
}

function register(
  { client: name, credential }: Extract<ClientCommand, { type: 'RegisterClient' }>,
  client: Client,
): readonly ClientEvent[] {
  if (client.status !== 'unknown') throw new ClientRefusal('CLIENT_EXISTS', `Client ${name} already exists.`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name)) {
    const text = `"${name}" is not a client name: use up to 64 of A-Z a-z 0-9 . _ @ -, beginning with a letter or digit.`;
    throw new ClientRefusal('BAD_CLIENT_NAME', text);
  }
  return [{ type: 'ClientRegistered', data: { client: name, credential } }];
}

/** Returns the host name of a domain, which may be given as a host name or as a URL with nothing else. */
function hostOf(domain: string): string {
  const given = domain
    .replace(/^https?:\/\//i, '')
    .replace(/\.?\/?$/, '')
    .toLowerCase();
  const host = URL.parse(`https://${given}/`)?.hostname ?? '';
  // `127.1` is the host 127.0.0.1 of a URL, and `example.org:8080` is more than a host.
  const isHost = host === given || (!/[\s/\\?#@:%]/.test(given) && !isAddress(host));
  if (isHostName(host) && isHost) return host;
  throw new ClientRefusal('BAD_DOMAIN', `"${domain}" is not a domain name: give a host like example.org.`);
}

/** Whether a host is an IPv4 address: only these end with a number. */
function isAddress(host: string): boolean {
  return /(?:^|\.)[0-9]+$/.test(host);
}

/** Whether the text is a host name or an IPv6 address; with any other character, no host of a URL would ever match. */
function isHostName(host: string): boolean {
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/.test(host);
}

/** Returns the normal form of a provider URL, without trailing slashes. @throws {ClientRefusal} it is given otherwise */
function acceptedProviderUrl(wanted: string | null): string | null {
  if (wanted === null) return null;
  const given = wanted.replace(/\/+$/, '');
  if (isOriginTooLong(originBelow(given, ANY_UUID))) {
    const text = `The provider URL is too long: origins below it would have more than ${MAX_ORIGIN_BYTES} bytes, or more than fit into a SWHID.`;
    throw new ClientRefusal('BAD_PROVIDER_URL', text);
  }
  if (!isProviderUrl(wanted)) {
    const text = `"${wanted}" is not a provider URL: give an absolute http or https URL without credentials, ? and #.`;
    throw new ClientRefusal('BAD_PROVIDER_URL', text);
  }
  const normal = new URL(wanted).href.replace(/\/+$/, '');
  if (given === normal) return normal;
  throw new ClientRefusal('BAD_PROVIDER_URL', `"${wanted}" is not in its normal form: give ${normal}.`);
}

/** A name that ends an origin: each deposit has a UUID. */
const ANY_UUID = '00000000-0000-0000-0000-000000000000';

/** Whether the text is an absolute http(s) URL without credentials, query and fragment, which origins extend. */
function isProviderUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\?#@\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return false;
  return new URL(text).hostname !== '';
}

function evolve(client: Client, event: ClientEvent): Client {
  if (event.type === 'ClientRegistered') {
    return { status: 'active', collections: [], domain: null, providerUrl: null };
  }
  return evolveRegistered(client as Registered, event); // a stream begins with ClientRegistered
}

function evolveRegistered(
  client: Registered,
  event: Exclude<ClientEvent, { type: 'ClientRegistered' }>,
): Client {
  switch (event.type) {
    case 'CredentialChanged':
      return client;
    case 'ClientDisabled':
      return { ...client, status: 'disabled' };
    case 'ClientEnabled':
      return { ...client, status: 'active' };
    case 'CollectionGranted':
      return { ...client, collections: [...client.collections, event.data.collection] };
    case 'CollectionRevoked':
      return { ...client, collections: client.collections.filter((name) => name !== event.data.collection) };
    case 'DomainSet':
      return { ...client, domain: event.data.domain };
    case 'ProviderUrlSet':
      return { ...client, providerUrl: event.data.providerUrl };
    case 'WebhookSet':
      return { ...client, webhook: event.data.url };
    case 'WebhookRemoved': {
      const { webhook: _, ...others } = client;
      return others;
    }
    default:
      return event satisfies never;
  }
}
