import test from 'ava';
import { type ClientEvent, clientDecider } from '../../src/domain/client/client.ts';
import { collectionDecider } from '../../src/domain/collection/collection.ts';
import { type PersonEvent, personDecider } from '../../src/domain/person/person.ts';
import { scenario } from '../../testing/domain/given.ts';

const credential = { scheme: 'scrypt', N: 2, r: 1, p: 1, salt: '', digest: '' } as const;
const registered: ClientEvent = { type: 'ClientRegistered', data: { client: 'alice', credential } };
const client = 'alice';

test('a client is registered once, with a name that is valid in Basic credentials', (t) => {
  const given = scenario(clientDecider);
  given(t).when({ type: 'RegisterClient', client, credential }).thenEvents(registered);
  given(t, registered).when({ type: 'RegisterClient', client, credential }).thenRefused('CLIENT_EXISTS');
  for (const name of ['', 'a:b', 'a b', '.hidden', 'é', 'x'.repeat(65), 'a\n']) {
    given(t).when({ type: 'RegisterClient', client: name, credential }).thenRefused('BAD_CLIENT_NAME');
  }
});

test('commands on an unregistered client or an unopened collection are refused', (t) => {
  scenario(clientDecider)(t).when({ type: 'DisableClient', client }).thenRefused('CLIENT_UNKNOWN');
  scenario(collectionDecider)(t)
    .when({ type: 'ChangePolicy', collection: 'c', policy: 'P' })
    .thenRefused('COLLECTION_UNKNOWN');
});

test('a command without effect records no event', (t) => {
  const given = scenario(clientDecider);
  const granted: ClientEvent = { type: 'CollectionGranted', data: { client, collection: 'c' } };
  const disabled: ClientEvent = { type: 'ClientDisabled', data: { client } };
  given(t, registered).when({ type: 'EnableClient', client }).thenNothing();
  given(t, registered, disabled).when({ type: 'DisableClient', client }).thenNothing();
  given(t, registered, granted).when({ type: 'GrantCollection', client, collection: 'c' }).thenNothing();
  given(t, registered).when({ type: 'RevokeCollection', client, collection: 'c' }).thenNothing();
  given(t, registered).when({ type: 'SetDomain', client, domain: null }).thenNothing();
});

test('a domain is a host name, also when it is given as a URL', (t) => {
  const given = scenario(clientDecider);
  for (const domain of [
    'alice.example',
    'alice.example.',
    'https://Alice.example/',
    'HTTPS://alice.example./',
  ]) {
    given(t, registered)
      .when({ type: 'SetDomain', client, domain })
      .thenEvents({ type: 'DomainSet', data: { client, domain: 'alice.example' } });
  }
  const hosts = {
    'Ä.example': 'xn--4ca.example',
    '192.0.2.1': '192.0.2.1',
    '[2001:DB8::1]': '[2001:db8::1]',
  };
  for (const [domain, host] of Object.entries(hosts)) {
    given(t, registered)
      .when({ type: 'SetDomain', client, domain })
      .thenEvents({ type: 'DomainSet', data: { client, domain: host } });
  }
  const impossible = [
    'a b',
    'https://',
    'alice.example/path',
    '*.alice.example',
    '.alice.example',
    'ftp://a.b',
  ];
  const parts = ['example.org:8080', 'example.org?x', 'example.org#a', '#a', 'ä.example:8080', 'ä.example?x'];
  for (const domain of [
    ...impossible,
    ...parts,
    '127.1',
    '1',
    '0x7f.1',
    '１',
    '%61.example',
    'a@b.example',
    '.',
  ]) {
    given(t, registered).when({ type: 'SetDomain', client, domain }).thenRefused('BAD_DOMAIN');
  }
});

test('a provider URL is absolute and stored without trailing slashes', (t) => {
  const given = scenario(clientDecider);
  for (const providerUrl of ['https://alice.example/', 'https://alice.example//']) {
    given(t, registered)
      .when({ type: 'SetProviderUrl', client, providerUrl })
      .thenEvents({ type: 'ProviderUrlSet', data: { client, providerUrl: 'https://alice.example' } });
  }
  const impossible = [
    'alice',
    'https://alice.example/?q=1',
    'https://alice.example/#f',
    'https://a@alice.example',
  ];
  for (const providerUrl of [...impossible, 'https://alice.example/my software', 'https:alice.example']) {
    given(t, registered)
      .when({ type: 'SetProviderUrl', client, providerUrl })
      .thenRefused('BAD_PROVIDER_URL');
  }
});

test('a provider URL is given in its normal form, and short enough for origins', (t) => {
  const given = scenario(clientDecider);
  const refused = (providerUrl: string) =>
    given(t, registered)
      .when({ type: 'SetProviderUrl', client, providerUrl })
      .thenRefused('BAD_PROVIDER_URL');
  for (const start of [
    'https:////a.example',
    'https://ä.example',
    'HTTPS://a.example',
    'https://A.example',
  ]) {
    refused(start);
  }
  for (const url of ['https://a.example/x/../y', 'https://a.example:443', 'https://a.example/ä'])
    refused(url);
  const command = { type: 'SetProviderUrl', client, providerUrl: 'https://ä.example/x/../y/' } as const;
  t.throws(() => clientDecider.decide(command, clientDecider.evolve(clientDecider.initial, registered)), {
    message: '"https://ä.example/x/../y/" is not in its normal form: give https://xn--4ca.example/y.',
  });
  const longest = 'https://a.example/'.padEnd(1024 - 37, 'x');
  given(t, registered)
    .when({ type: 'SetProviderUrl', client, providerUrl: longest })
    .thenTypes('ProviderUrlSet');
  refused(`${longest}x`);
  refused('https://a.example/'.padEnd(100_000, 'x'));
  refused(`https://a.example/${';'.repeat(600)}`);
});

test('a collection is opened once, under a name that is a path segment of its own', (t) => {
  const given = scenario(collectionDecider);
  const opened = { type: 'CollectionOpened', data: { collection: 'software' } } as const;
  given(t).when({ type: 'OpenCollection', collection: 'software' }).thenEvents(opened);
  given(t, opened).when({ type: 'OpenCollection', collection: 'software' }).thenRefused('COLLECTION_EXISTS');
  for (const collection of ['', 'a/b', '..', 'ServiceDocument', 'é', 'x'.repeat(65)]) {
    given(t).when({ type: 'OpenCollection', collection }).thenRefused('BAD_COLLECTION_NAME');
  }
});

test('a collection accepts zips, tars or both, each once', (t) => {
  const given = scenario(collectionDecider);
  const opened = { type: 'CollectionOpened', data: { collection: 'c' } } as const;
  given(t, opened)
    .when({ type: 'ChangeAcceptedTypes', collection: 'c', accept: ['application/zip', 'application/zip'] })
    .thenEvents({ type: 'AcceptedTypesChanged', data: { collection: 'c', accept: ['application/zip'] } });
  for (const accept of [[], ['text/plain']]) {
    given(t, opened).when({ type: 'ChangeAcceptedTypes', collection: 'c', accept }).thenRefused('BAD_ACCEPT');
  }
});

test('a text about a collection has at most 1,000 characters', (t) => {
  const given = scenario(collectionDecider);
  const opened = { type: 'CollectionOpened', data: { collection: 'c' } } as const;
  const [longest, tooLong] = ['x'.repeat(1000), 'x'.repeat(1001)];
  for (const name of ['title', 'abstract', 'treatment']) {
    const describe = (text: string) =>
      given(t, opened).when({ type: 'DescribeCollection', collection: 'c', [name]: text });
    describe(longest).thenTypes('CollectionDescribed');
    describe(tooLong).thenRefused('BAD_COLLECTION_TEXT');
  }
  const policy = (text: string) =>
    given(t, opened).when({ type: 'ChangePolicy', collection: 'c', policy: text });
  policy(longest).thenTypes('PolicyChanged');
  policy(tooLong).thenRefused('BAD_COLLECTION_TEXT');
});

test('a webhook is an absolute URL without credentials, and each setting replaces the last', (t) => {
  const given = scenario(clientDecider);
  const secret = { scheme: 'aes-256-gcm', keyId: 'k', iv: '', ciphertext: '', tag: '' } as const;
  const set: ClientEvent = {
    type: 'WebhookSet',
    data: { client, url: 'https://alice.example/hook?a=b', secret },
  };
  const command = { type: 'SetWebhook', client, url: 'https://Alice.example/hook?a=b#top', secret } as const;
  given(t, registered).when(command).thenEvents(set);
  given(t, registered, set).when(command).thenEvents(set);
  for (const url of [
    '',
    'alice',
    'ftp://alice.example/',
    'https://:b@alice.example/',
    'https://a@alice.example/',
    'https://',
  ])
    given(t, registered)
      .when({ ...command, url })
      .thenRefused('BAD_WEBHOOK');
  const longest = 'https://alice.example/'.padEnd(2000, 'x');
  given(t, registered)
    .when({ ...command, url: longest })
    .thenTypes('WebhookSet');
  given(t, registered)
    .when({ ...command, url: `${longest}x` })
    .thenRefused('BAD_WEBHOOK');
  const removed: ClientEvent = { type: 'WebhookRemoved', data: { client } };
  given(t, registered, set).when({ type: 'RemoveWebhook', client }).thenEvents(removed);
  given(t, registered, set, removed).when({ type: 'RemoveWebhook', client }).thenNothing();
});

test('a person has one role; only a depositor has it for a client', (t) => {
  const given = scenario(personDecider);
  const person = 'rosa';
  const added: PersonEvent = { type: 'PersonAdded', data: { person, role: 'auditor', client: null } };
  given(t).when({ type: 'AddPerson', person, role: 'auditor', client: null }).thenEvents(added);
  given(t, added)
    .when({ type: 'AddPerson', person, role: 'auditor', client: null })
    .thenRefused('PERSON_EXISTS');
  given(t, added).when({ type: 'ChangeRole', person, role: 'auditor', client: null }).thenNothing();
  given(t, added)
    .when({ type: 'ChangeRole', person, role: 'depositor', client: 'alice' })
    .thenEvents({ type: 'RoleChanged', data: { person, role: 'depositor', client: 'alice' } });
  given(t, added)
    .when({ type: 'ChangeRole', person, role: 'depositor', client: null })
    .thenRefused('BAD_ROLE', /needs a client/);
  given(t, added)
    .when({ type: 'ChangeRole', person, role: 'operator', client: 'alice' })
    .thenRefused('BAD_ROLE', /takes no client/);
  for (const name of ['', 'a:b', 'a b', '.hidden', 'x'.repeat(65)])
    given(t)
      .when({ type: 'AddPerson', person: name, role: 'auditor', client: null })
      .thenRefused('BAD_PERSON_NAME');
});

test('a person is disabled and enabled once, and their sessions can be ended repeatedly', (t) => {
  const given = scenario(personDecider);
  const person = 'rosa';
  const added: PersonEvent = { type: 'PersonAdded', data: { person, role: 'operator', client: null } };
  const disabled: PersonEvent = { type: 'PersonDisabled', data: { person } };
  given(t).when({ type: 'DisablePerson', person }).thenRefused('PERSON_UNKNOWN');
  given(t, added).when({ type: 'DisablePerson', person }).thenEvents(disabled);
  given(t, added, disabled).when({ type: 'DisablePerson', person }).thenNothing();
  given(t, added).when({ type: 'EnablePerson', person }).thenNothing();
  const ended: PersonEvent = { type: 'SessionsEnded', data: { person } };
  given(t, added, ended).when({ type: 'EndSessions', person }).thenEvents(ended);
});
