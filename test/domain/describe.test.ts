import test from 'ava';
import type { ClientEvent, Credential } from '../../src/domain/client/client.ts';
import { clientFacts, describeClientEvent } from '../../src/domain/client/describe.ts';
import type { SealedSecret } from '../../src/domain/client/webhook.ts';
import { type CollectionEvent, newCollection } from '../../src/domain/collection/collection.ts';
import { collectionFacts, describeCollectionEvent } from '../../src/domain/collection/describe.ts';
import { depositFacts } from '../../src/domain/deposit/deposit-facts.ts';
import { describeDepositEvent } from '../../src/domain/deposit/describe.ts';
import type { DepositEvent } from '../../src/domain/deposit/events.ts';
import { absent, evolve } from '../../src/domain/deposit/state.ts';
import type { Description, Fact } from '../../src/domain/description.ts';
import { personFacts } from '../../src/domain/person/describe.ts';
import { stepText } from '../../src/operations/history/history-text.ts';
import { printable, printableLine } from '../../src/tools/terminal/printable.ts';
import { wrapLines } from '../../src/tools/terminal/wrap-lines.ts';
import {
  aliceArchive,
  aliceEntry,
  archiveAdded,
  broken,
  copyUnreadable,
  depositCompleted,
  depositCreated,
  depositDeleted,
  depositLoaded,
  depositRejected,
  depositVerified,
  entryWith,
  fallbackOrigin,
  loadingFailed,
  loadingStarted,
  metadataAdded,
  noArchive,
  reading,
  secondArchive,
  wayTo,
} from '../../testing/domain/example-deposits.ts';

const depositSentences: Readonly<Record<DepositEvent['type'], readonly [DepositEvent, string]>> = {
  DepositCreated: [depositCreated, 'Deposit created in the collection software.'],
  ArchiveAdded: [archiveAdded, 'Archive paint-1.0.tar.gz added (1,000 bytes).'],
  ArchivesReplaced: [
    { type: 'ArchivesReplaced', data: { depositId: 1, archive: { ...secondArchive, length: 1 } } },
    'All archives replaced by docs.zip (1 byte).',
  ],
  ArchivesRemoved: [{ type: 'ArchivesRemoved', data: { depositId: 1 } }, 'All archives removed.'],
  ArchiveReplaced: [
    { type: 'ArchiveReplaced', data: { depositId: 1, number: 2, archive: secondArchive } },
    'Archive number 2 replaced by docs.zip (1,000 bytes).',
  ],
  ArchiveRemoved: [
    { type: 'ArchiveRemoved', data: { depositId: 1, number: 2 } },
    'Archive number 2 removed.',
  ],
  MetadataAdded: [metadataAdded, 'Metadata added: "Paint" by Alice (300 bytes).'],
  MetadataReplaced: [
    { type: 'MetadataReplaced', data: { depositId: 1, entry: entryWith({ title: null, authors: [] }) } },
    'All metadata replaced by metadata without a title (300 bytes).',
  ],
  DepositCompleted: [depositCompleted(), 'Deposit completed by the client.'],
  DepositDeleted: [depositDeleted, 'Deposit deleted.'],
  DepositVerified: [depositVerified, 'Deposit passed check 1: 2 files of 52 bytes in 1 archive.'],
  DepositRejected: [depositRejected, 'Deposit rejected by check 1 for 1 reason.'],
  CopyUnreadable: [
    copyUnreadable,
    'The service cannot read its copy of the archive at the moment; nothing is needed from you.',
  ],
  ChecksRetried: [
    { type: 'ChecksRetried', data: { depositId: 1, attempt: 2 } },
    'Re-check requested (check 2).',
  ],
  LoadingStarted: [loadingStarted, 'Loading started: load 1.'],
  DepositLoaded: [depositLoaded, 'Deposit loaded: 2 files of 52 bytes.'],
  LoadingFailed: [loadingFailed, 'Load 1 failed.'],
  LoadingRetried: [
    { type: 'LoadingRetried', data: { depositId: 1, attempt: 2 } },
    'Reload requested (load 2).',
  ],
  MetadataUpdated: [
    { type: 'MetadataUpdated', data: { depositId: 1, swhid: 'swh:1:dir:1', entry: aliceEntry } },
    'Metadata added to the finished deposit: "Paint" by Alice (300 bytes).',
  ],
  MetadataDeposited: [
    {
      type: 'MetadataDeposited',
      data: {
        depositId: 1,
        completedAt: '2026-03-01T10:00:00.000Z',
        target: { kind: 'origin', url: fallbackOrigin },
        warnings: [],
      },
    },
    'Deposit of metadata alone is done.',
  ],
};

test('every event of a deposit is described in a sentence', (t) => {
  for (const [type, [event, sentence]] of Object.entries(depositSentences)) {
    t.true(event.type === type, type);
    t.is(describeDepositEvent(event).sentence, sentence);
  }
});

test('many authors are counted, not listed', (t) => {
  const entry = entryWith({ authors: ['Ada', 'Bob', 'Cy', 'Dee', 'Eve'] });
  t.is(
    describeDepositEvent({ type: 'MetadataAdded', data: { depositId: 1, entry } }).sentence,
    'Metadata added: "Paint" by Ada, Bob, Cy and 2 more (300 bytes).',
  );
});

test('details contain the rest: names, full digests, reasons, identifiers', (t) => {
  t.deepEqual(lines(describeDepositEvent(depositCreated)), [
    'uuid: 6a1b4f0e-0000-4000-8000-000000000001',
    `origin: ${fallbackOrigin} unless the metadata name another`,
  ]);
  const { sha256 } = aliceArchive;
  t.deepEqual(lines(describeDepositEvent(archiveAdded)), ['type: application/x-tar', `sha256: ${sha256}`]);
  t.deepEqual(lines(describeDepositEvent(metadataAdded)), [
    'version: 1.0',
    'encoding: utf-8',
    `sha256: ${aliceEntry.sha256}`,
  ]);
  t.deepEqual(lines(describeDepositEvent(depositRejected)), [
    'reason: The deposit has no software archive (archive)',
  ]);
  t.deepEqual(lines(describeDepositEvent(loadingFailed)), [`reason: ${broken.text} (archive)`]);
  t.deepEqual(lines(describeDepositEvent(depositLoaded)).slice(0, 4), [
    `directory: swh:1:dir:${'1'.repeat(40)}`,
    `revision: swh:1:rev:${'2'.repeat(40)}`,
    `snapshot: swh:1:snp:${'3'.repeat(40)}`,
    `origin: ${fallbackOrigin}`,
  ]);
});

test('internal objects of the service are marked as such', (t) => {
  const own = [depositVerified, depositLoaded].flatMap((event) =>
    describeDepositEvent(event).details.filter(({ internal }) => internal),
  );
  t.deepEqual(
    own.map(({ label }) => label),
    ['listing', 'recipe', 'manifest'],
  );
  t.is(own[0]?.value, reading.listing);
});

test('a deposit is described by its known facts only', (t) => {
  t.deepEqual(depositFacts(absent), []);
  t.deepEqual(facts(wayTo('ArchiveAdded')), {
    client: ['alice'],
    collection: ['software'],
    uuid: ['6a1b4f0e-0000-4000-8000-000000000001'],
    archives: [`paint-1.0.tar.gz (1,000 bytes, sha256 ${'a'.repeat(64)})`],
    metadata: [],
  });
  const rejected = facts([...wayTo('DepositCompleted'), depositRejected]);
  t.deepEqual(rejected['reasons'], [`${noArchive.text} (archive)`]);
  t.deepEqual(rejected['origin'], [fallbackOrigin]);
  t.deepEqual(rejected['completed'], ['2026-03-01T10:00:00.000Z']);
  const failed = facts([...wayTo('LoadingStarted'), loadingFailed]);
  t.deepEqual(
    [failed['reasons'], failed['check'], failed['load']],
    [[`${broken.text} (archive)`], ['number 1'], ['number 1']],
  );
  const done = facts(wayTo('DepositLoaded'));
  t.is(done['identifiers']?.[0], `swh:1:dir:${'1'.repeat(40)}`);
  t.false('reasons' in done);
  t.deepEqual(facts([depositCreated, depositDeleted])['reasons'], ['gone']);
});

const credential: Credential = { scheme: 'scrypt', N: 2, r: 1, p: 1, salt: 'c2FsdA==', digest: 'ZGlnZXN0' };
const secret: SealedSecret = {
  scheme: 'aes-256-gcm',
  keyId: 'k',
  iv: 'aXY=',
  ciphertext: 'c2VhbGVk',
  tag: 'dGFn',
};
const client = 'alice';
const clientSentences: Readonly<Record<ClientEvent['type'], readonly [ClientEvent, string]>> = {
  ClientRegistered: [
    { type: 'ClientRegistered', data: { client, credential } },
    'Client alice registered with a password.',
  ],
  CredentialChanged: [{ type: 'CredentialChanged', data: { client, credential } }, 'Password changed.'],
  ClientDisabled: [{ type: 'ClientDisabled', data: { client } }, 'Client disabled: it cannot log in.'],
  ClientEnabled: [{ type: 'ClientEnabled', data: { client } }, 'Client enabled: it can log in again.'],
  CollectionGranted: [
    { type: 'CollectionGranted', data: { client, collection: 'software' } },
    'Collection software granted.',
  ],
  CollectionRevoked: [
    { type: 'CollectionRevoked', data: { client, collection: 'software' } },
    'Collection software revoked.',
  ],
  DomainSet: [{ type: 'DomainSet', data: { client, domain: null } }, 'Domain removed.'],
  ProviderUrlSet: [
    { type: 'ProviderUrlSet', data: { client, providerUrl: 'https://alice.example' } },
    'Provider URL set.',
  ],
  WebhookSet: [
    { type: 'WebhookSet', data: { client, url: 'https://alice.example/hook', secret } },
    'Webhook set, with a new secret.',
  ],
  WebhookRemoved: [{ type: 'WebhookRemoved', data: { client } }, 'Webhook removed.'],
};

test('every event of a client is described in a sentence, without its credentials', (t) => {
  for (const [type, [event, sentence]] of Object.entries(clientSentences)) {
    const description = describeClientEvent(event);
    t.true(event.type === type, type);
    t.is(description.sentence, sentence);
    t.notRegex(JSON.stringify(description), /c2FsdA|ZGlnZXN0|scrypt|aes|aXY|c2VhbGVk|dGFn/);
  }
  const domainSet = describeClientEvent({ type: 'DomainSet', data: { client, domain: 'alice.example' } });
  t.deepEqual([domainSet.sentence, ...lines(domainSet)], ['Domain set.', 'domain: alice.example']);
  const removed = describeClientEvent({ type: 'ProviderUrlSet', data: { client, providerUrl: null } });
  t.is(removed.sentence, 'Provider URL removed.');
});

test('clients, collections and people are described by their known facts only', (t) => {
  const unknown = { status: 'unknown' } as const;
  t.deepEqual([...clientFacts(unknown), ...collectionFacts(unknown), ...personFacts(unknown)], []);
  const bare = { status: 'active', collections: ['software'], domain: null, providerUrl: null } as const;
  t.deepEqual(valuesIn(clientFacts(bare)), [['software'], [], [], []]);
  const [domain, providerUrl, webhook] = ['a.example', 'https://a.example', 'https://a.example/hook'];
  t.deepEqual(valuesIn(clientFacts({ ...bare, domain, providerUrl, webhook })), [
    ['software'],
    [domain],
    [providerUrl],
    [webhook],
  ]);
  const open = { ...newCollection('c'), abstract: 'A', treatment: 'T', policy: 'P' };
  t.deepEqual(valuesIn(collectionFacts(open)), [['c'], ['A'], ['T'], ['P'], open.accept]);
  const person = { status: 'active', role: 'depositor', client } as const;
  t.deepEqual(valuesIn(personFacts(person)), [['depositor'], [client]]);
  t.deepEqual(valuesIn(personFacts({ ...person, role: 'operator', client: null })), [['operator'], []]);
});

function valuesIn(facts: readonly Fact[]): readonly Fact['values'][] {
  return facts.map(({ values }) => values);
}

const collection = 'software';
const collectionSentences: Readonly<Record<CollectionEvent['type'], readonly [CollectionEvent, string]>> = {
  CollectionOpened: [{ type: 'CollectionOpened', data: { collection } }, 'Collection software opened.'],
  CollectionDescribed: [
    { type: 'CollectionDescribed', data: { collection, title: 'S', abstract: 'A', treatment: 'T' } },
    'Description of the collection changed.',
  ],
  PolicyChanged: [{ type: 'PolicyChanged', data: { collection, policy: 'P' } }, 'Policy changed.'],
  AcceptedTypesChanged: [
    { type: 'AcceptedTypesChanged', data: { collection, accept: ['application/zip'] } },
    'Accepted types changed.',
  ],
};

test('every event of a collection is described in a sentence', (t) => {
  for (const [type, [event, sentence]] of Object.entries(collectionSentences)) {
    t.true(event.type === type, type);
    t.is(describeCollectionEvent(event).sentence, sentence);
  }
});

function lines({ details }: Description): string[] {
  return details.map(({ label, value }) => `${label}: ${value}`);
}

function facts(past: readonly DepositEvent[]): Record<string, Fact['values']> {
  const facts = depositFacts(past.reduce(evolve, absent));
  return Object.fromEntries(facts.map(({ label, values }) => [label, values]));
}

test('texts of clients cannot imitate the words of the service or extend a sentence', (t) => {
  const forged = 'Paint" by Bob (9 bytes). Deposit deleted: "x';
  const entry = entryWith({ title: forged, authors: ['Ada', 'Bob (9 bytes). Deposit deleted'] });
  t.is(
    describeDepositEvent({ type: 'MetadataAdded', data: { depositId: 1, entry } }).sentence,
    'Metadata added: "Paint\\" by Bob (9 bytes). Deposit deleted: \\"x" by Ada, "Bob (9 bytes). Deposit deleted" (300 bytes).',
  );
  for (const [filename, shown] of [
    ['my code.tar.gz', 'my code.tar.gz'],
    ['a.zip, b.zip', '"a.zip, b.zip"'],
    ['a.zip added (3 bytes). Deposit deleted', '"a.zip added (3 bytes). Deposit deleted"'],
  ] as const) {
    const archive = { ...aliceArchive, filename };
    t.is(
      describeDepositEvent({ type: 'ArchiveAdded', data: { depositId: 1, archive } }).sentence,
      `Archive ${shown} added (1,000 bytes).`,
    );
  }
});

test('a history marks continued lines, and no text of a client resembles one of its lines', (t) => {
  const blank = [' ', '\u2800', '\u3164', '\u00a0', '\u3000', '\u200b', '\t', '\n', '\u034f', '\ufe0f'];
  const event = '#9  2026-03-01 10:00:00.000Z  operator rosa  → deleted';
  for (const filler of [...blank, 'W', '\u5bec', '\u231b', 'a\u0300\u0300']) {
    for (const width of [40, 80, 100]) {
      const title = `${filler.repeat(width / 2 - 12)} ${event} ${filler.repeat(width)} ${event} ${filler.repeat(3 * width)}${event}`;
      const [first = '', ...others] = wrapLines(`Metadata added: ${title}`, 4, width);
      t.true(first.startsWith('    Metadata added:'));
      for (const line of others) t.true(line.startsWith('    | '), JSON.stringify({ filler, line }));
      // A terminal wraps a line that is too wide, at any column: only a word without a space may be.
      const columns = (line: string) => line.length + (line.match(/[\u5bec\u231b]/g)?.length ?? 0);
      for (const line of [first, ...others])
        t.true(columns(line) <= width || !/ .* /.test(line.trim().replace(/^\| /, '')), JSON.stringify(line));
    }
  }
});

test('characters that a terminal executes, reorders or hides are escaped as in JSON', (t) => {
  const odd = '\u001b[2J \u009b \u202e \u2800 \u3164 \u00a0 \u200b \t \u{e0041} \ufe0f';
  t.regex(printable(odd), /^[\x20-\x7e]+$/);
  t.is(JSON.parse(printable(JSON.stringify({ odd }))).odd, odd);
  const plain = 'Ada Łukasiewicz, 塗る, Ölfarbe – “ﬁn” e\u0301\n\u0e01\u0e34\u0e4a';
  t.is(printable(plain), plain);
  t.is(printable(`a${'\u0300'.repeat(9)}`), `a${'\u0300'.repeat(4)}${'\\u0300'.repeat(5)}`);
  t.is(printableLine('a\n\n b\u2028c'), 'a b c');
});

test('a value that could pass for several details is quoted', (t) => {
  const event = {
    ...depositCreated,
    data: { ...depositCreated.data, slug: 'x; origin: https://evil.example/' },
  } as DepositEvent;
  const stored = {
    stream: 'deposit-1',
    revision: 0,
    position: '1',
    id: 'x',
    type: event.type,
    data: {},
    metadata: {},
  };
  const step = {
    stored,
    fault: undefined,
    unknown: undefined,
    description: describeDepositEvent(event),
    state: { status: 'partial' },
    facts: [],
  };
  t.regex(stepText(step, undefined), / slug: "x; origin: https:\/\/evil\.example\/"\n/);
});
