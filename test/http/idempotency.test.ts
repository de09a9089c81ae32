import { hash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { requestFingerprints } from '../../src/deposits/idempotency/request-fingerprint.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { MetadataEntry } from '../../src/domain/deposit/events.ts';
import { appendAfter } from '../../src/event-log/append-after.ts';
import { demoTar } from '../../testing/archives/demo-tars.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  entryHeaders,
  entryXml,
  final,
  formType,
  helloEntry,
  helloForm,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit, pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const collections = ['software', 'art', 'once', 'tars'];
const test = testOfService({ alice: { collections }, bob: { collections } });

const key = { 'Idempotency-Key': 'a7d1-first' };
/** Returns the stream of a key of alice. */
const streamOf = (text: string): string => `request-${hash('sha256', `alice\0${text}`)}`;
const DAY_MS = 24 * 60 * 60 * 1000;

async function create(
  client: TestClient,
  headers: Record<string, string>,
  collection = 'software',
): Promise<Response> {
  return client.post(`/1/${collection}/`, helloForm, { ...formType, ...headers });
}

test('a deposit created by a repetition days after its first request has the time of the repetition', async (t) => {
  const { service, alice } = t.context;
  const { log } = service.service;
  const recordOf = async (text: string) =>
    (await Array.fromAsync(log.readStream(streamOf(text)))).at(0)?.data;
  const headers = (text: string) => ({ 'Idempotency-Key': text, ...final });
  t.is((await create(alice, headers('executed'))).status, 201);
  const begun = new Date(Date.now() - 4 * DAY_MS).toISOString();
  const depositId = 1_000_000;
  await appendAfter(log, streamOf('not-executed'), undefined, {
    type: 'RequestBegun',
    data: { ...(await recordOf('executed')), depositId, requestId: randomUUID(), now: begun },
    metadata: { schemaVersion: 1, occurredAt: begun },
  });
  const repeated = await create(alice, headers('not-executed'));
  t.is(repeated.status, 201);
  t.regex(repeated.headers.get('location') ?? '', /\/1000000\//);
  for await (const { data, metadata } of log.readStream(`deposit-${depositId}`))
    for (const time of [metadata['occurredAt'], data['createdAt'], data['completedAt']])
      t.false(typeof time === 'string' && Date.now() - Date.parse(time) > DAY_MS, JSON.stringify(time));
});

async function same(t: ExecutionContext, first: Response, again: Response): Promise<void> {
  t.is(again.status, first.status);
  for (const header of ['location', 'etag'])
    t.is(again.headers.get(header), first.headers.get(header), header);
  t.is(await again.text(), await first.text());
}

test('a create repeated with its key gets the first response, also after later changes and a restart', async (t) => {
  await using service = await RunningService.start({ baseUrl: 'http://deposit.example' });
  const alice = await service.register('alice', { collections: ['software'] });
  const first = await create(alice, { ...key, ...final });
  t.is(first.status, 201);
  await alice.waitFor('/1/software/1/status/', 'done');
  await same(t, first.clone(), await create(alice, { ...key, ...final }));
  await service.stop();
  await service.startAgain();
  await same(t, first, await create(alice.at(service.url), { ...key, ...final }));
  t.is((await alice.at(service.url).get('/1/software/2/status/')).status, 404);
});

test('a repeated request gets the first response even if the collection no longer accepts such archives', async (t) => {
  const { alice, service } = t.context;
  const place = pathOf(await create(alice, partial, 'tars'));
  const archive = (target: string, name: string) =>
    alice.post(target, helloZip, { ...archiveHeaders(), ...partial, 'Idempotency-Key': name });
  const sends = [
    () => create(alice, { 'Idempotency-Key': 'form', ...partial }, 'tars'),
    () => archive('/1/tars/', 'created'),
    () => archive(`${place}media/`, 'added'),
    () => archive(`${place}metadata/`, 'added, too'),
  ];
  const first: Response[] = [];
  for (const send of sends) first.push(await send());
  const accept = ['application/x-tar'];
  await service.administration.collection({ type: 'ChangeAcceptedTypes', collection: 'tars', accept });
  await until(async () => (await archive('/1/tars/', 'new')).status === 415);
  for (const [index, send] of sends.entries()) {
    t.is(first[index]?.status, 201);
    await same(t, first[index] as Response, await send());
  }
  t.is((await archive('/1/tars/', 'form')).status, 409, 'other content with its key');
});

test('a repeated request gets the first response even if the client may no longer name its origin', async (t) => {
  await using service = await RunningService.start({ baseUrl: 'http://deposit.example' });
  const carol = await service.register('carol', {
    collections: ['art'],
    providerUrl: 'https://carol.example',
  });
  const url = 'https://carol.example/paint';
  const entry = entryXml(
    `<title>Paint</title><author><name>C</name></author><codemeta:url>${url}</codemeta:url><d:create_origin><d:origin url="${url}"/></d:create_origin>`,
  );
  const send = (path: string, name: string) =>
    carol.post(path, entry, { ...entryHeaders(), ...partial, 'Idempotency-Key': name });
  const created = await send('/1/art/', 'create');
  t.is(created.status, 201);
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  const added = await send(edit, 'add');
  t.is(added.status, 201);
  await service.administration.client({
    type: 'SetProviderUrl',
    client: 'carol',
    providerUrl: 'https://elsewhere.example',
  });
  await until(
    async () => (await carol.post('/1/art/', entry, { ...entryHeaders(), ...partial })).status === 403,
  );
  await same(t, created, await send('/1/art/', 'create'));
  await same(t, added, await send(edit, 'add'));
});

test('a repeated request gets the first response even if smaller ones are accepted now', async (t) => {
  await using service = await RunningService.start({ baseUrl: 'http://deposit.example' });
  const dora = await service.register('dora', { collections: ['art'] });
  const media = `${pathOf(await create(dora, partial, 'art'))}media/`;
  const sends = (client: TestClient, name: string) => [
    () => create(client, { ...partial, 'Idempotency-Key': `form ${name}` }, 'art'),
    () => client.post(media, helloZip, { ...archiveHeaders(), ...partial, 'Idempotency-Key': `zip ${name}` }),
    () =>
      client.post('/1/art/', helloEntry, { ...entryHeaders(), ...partial, 'Idempotency-Key': `xml ${name}` }),
  ];
  const first: Response[] = [];
  for (const send of sends(dora, 'old')) first.push(await send());
  await service.stop();
  await service.startAgain({ maxUploadSize: helloZip.length - 1, maxEntrySize: helloEntry.length - 1 });
  const later = dora.at(service.url);
  for (const [index, send] of sends(later, 'old').entries()) {
    t.is(first[index]?.status, 201);
    await same(t, first[index] as Response, await send());
  }
  for (const send of sends(later, 'new')) t.is((await send()).status, 413);
  const larger = Buffer.concat([helloZip, helloZip]);
  const headers = { ...archiveHeaders(), ...partial, 'Idempotency-Key': 'zip old' };
  t.is((await later.post(media, larger, headers)).status, 413, 'more than was deposited');
});

test('a repeated request gets the first response even if an earlier release accepted longer values', async (t) => {
  const { service, alice } = t.context;
  const { log } = service.service;
  const path = await makeDeposit(alice, partial);
  const events = await Array.fromAsync(log.readStream(path.replace('/1/software/', 'deposit-').slice(0, -1)));
  const known = events.find(({ type }) => type === 'MetadataAdded')?.data['entry'] as MetadataEntry;
  const inside = `<external_identifier>${'x'.repeat(300)}</external_identifier><d:metadata-provenance><s:url xmlns:s="http://schema.org/">https://a.example/${'x'.repeat(600)}</s:url></d:metadata-provenance>`;
  const xml = entryXml(`<title>Paint</title><author><name>Ada</name></author>${inside}`);
  const [slug, depositId, text] = ['a\u202eb', 2_000_000, 'earlier release'];
  const send = (headers: Record<string, string>) =>
    alice.post('/1/software/', xml, { ...entryHeaders(), ...partial, ...headers });
  t.is((await send({ 'Idempotency-Key': 'new' })).status, 400);
  // As the earlier release recorded it: with the values cut.
  const commandId = streamOf(text);
  const [uuid, now, requestId] = [randomUUID(), new Date().toISOString(), randomUUID()];
  const entry = { ...known, sha256: hash('sha256', xml), length: Buffer.byteLength(xml) };
  const request = { method: 'POST', iriPath: '/1/software', inProgress: true, slug };
  const [fingerprint] = requestFingerprints(request, { archive: null, entry });
  await appendAfter(log, commandId, undefined, {
    type: 'RequestBegun',
    data: { depositId, requestId, fingerprint, client: 'alice', uuid, now },
    metadata: { schemaVersion: 1, occurredAt: now },
  });
  await handleCommand(
    log,
    deposits,
    depositId,
    {
      type: 'CreateDeposit',
      depositId,
      uuid,
      client: 'alice',
      collection: 'software',
      slug,
      fallbackOrigin: 'http://deposit.example/x',
      providerUrl: null,
      archive: null,
      entry,
      isFinal: false,
      now,
    },
    { commandId, actor: { kind: 'client', name: 'alice' }, now, correlationId: requestId },
  );
  const repeated = await send({ 'Idempotency-Key': text, Slug: encodeURIComponent(slug) });
  t.is(repeated.status, 201, await repeated.text());
  t.regex(repeated.headers.get('location') ?? '', /\/2000000\//);
});

/** Records that a request of alice with a key has begun, as version 0.1.0 did. */
async function recordedBy010(
  { service }: RunningService,
  text: string,
  depositId: number,
  requested: readonly unknown[],
): Promise<void> {
  const [now, requestId] = [new Date().toISOString(), randomUUID()];
  const fingerprint = hash('sha256', JSON.stringify(requested));
  await appendAfter(service.log, streamOf(text), undefined, {
    type: 'RequestBegun',
    data: { depositId, requestId, fingerprint, client: 'alice', uuid: randomUUID(), now },
    metadata: { schemaVersion: 1, occurredAt: now },
  });
}

const completions: readonly Record<string, string>[] = [{}, final, { ...final, Slug: 'x' }];

for (const headers of completions) {
  const sent = JSON.stringify(headers);
  const [inProgress, slug] = [headers['In-Progress'] ? false : null, headers['Slug'] ?? null];

  test(`a completion with ${sent} that version 0.1.0 recorded is answered`, async (t) => {
    const { alice, service } = t.context;
    const place = await makeDeposit(alice, partial);
    const [depositId, iri] = [Number(place.split('/')[3]), `${place}metadata`];
    for (const [index, requested] of [
      [iri, null, null, null, null],
      [iri, inProgress, slug, null, null], // by commits after it
    ].entries()) {
      const text = `${sent} ${index}`;
      await recordedBy010(service, text, depositId, requested);
      const answer = await alice.post(`${iri}/`, null, { ...headers, 'Idempotency-Key': text });
      t.is(answer.status, 200, await answer.text());
    }
  });

  test(`a completion with ${sent} is recorded as version 0.1.0 repeats it`, async (t) => {
    const { alice, service } = t.context;
    const place = await makeDeposit(alice, partial);
    const answer = await alice.post(`${place}metadata/`, null, { ...headers, 'Idempotency-Key': place });
    t.is(answer.status, 200);
    const [begun] = await Array.fromAsync(service.service.log.readStream(streamOf(place)));
    const requested = [`${place}metadata`, null, null, null, null];
    t.is(begun?.data['fingerprint'], hash('sha256', JSON.stringify(requested)));
  });
}

test('a compressed tar sent as a zip that version 0.1.0 recorded as a tar gets its deposit', async (t) => {
  const { alice, service } = t.context;
  const bytes = gzipSync(demoTar);
  const archive = [hash('sha256', bytes), 'a.zip', 'application/x-tar'];
  await recordedBy010(service, 'tar', 3_000_000, ['/1/software', true, null, archive, null]);
  const headers = { ...archiveHeaders('a.zip'), ...partial, 'Idempotency-Key': 'tar' };
  const answer = await alice.post('/1/software/', bytes, headers);
  t.is(answer.status, 201, await answer.text());
  t.regex(answer.headers.get('location') ?? '', /\/3000000\//);
});

test('ten concurrent creates with one key create one deposit', async (t) => {
  const { alice, service } = t.context;
  const once = { 'Idempotency-Key': 'ten', ...final };
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(alice, once, 'once')));
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  t.is(new Set(answers.map(({ headers }) => headers.get('location'))).size, 1);
  const events = await Array.fromAsync(service.service.log.readAll({ streamPrefixes: ['deposit-'] }));
  const created = events.filter(
    ({ type, data }) => type === 'DepositCreated' && data['collection'] === 'once',
  );
  t.is(created.length, 1);
});

test('a key applies to a resource under all spellings of its path', async (t) => {
  const { alice } = t.context;
  const place = await makeDeposit(alice, partial);
  const headers = { 'Idempotency-Key': 'one name', ...entryHeaders(), ...partial };
  const send = (target: string) => alice.post(target, helloEntry, headers);
  const first = await send(`${place}metadata/`);
  t.is(first.status, 201);
  for (const target of [`${place}atom/`, `${place.replace('software', '%73oftware')}metadata`]) {
    await same(t, first.clone(), await send(target));
  }
});

test('a key reused with other content or another resource is a conflict; keys are separate per client', async (t) => {
  const { alice, bob } = t.context;
  const first = await create(alice, { ...key, ...partial });
  t.is(first.status, 201);
  for (const [target, headers] of [
    ['/1/software/', final],
    ['/1/software/', { ...partial, Slug: 'x' }],
    ['/1/art/', partial],
  ] as const) {
    const refused = await alice.post(target, helloForm, { ...formType, ...headers, ...key });
    t.is(refused.status, 409, JSON.stringify({ target, ...headers }));
    assertErrorDocument(t, await refused.text(), 'Conflict');
    t.is(refused.headers.get('link'), `<${first.headers.get('location')}>; rel="edit"`);
  }
  t.is((await create(bob, { ...key, ...partial })).status, 201);
  t.is((await create(alice, { 'Idempotency-Key': 'ä', ...partial })).status, 400);
});

test('a key of a collection named atom differs from that of one named metadata', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['atom', 'metadata'] });
  const send = (collection: string) =>
    alice.post(`/1/${collection}/`, helloEntry, { ...entryHeaders(), ...partial, ...key });
  t.is((await send('atom')).status, 201);
  t.is((await send('metadata')).status, 409);
});

test('a refused request records no event, and its key can be reused', async (t) => {
  await using service = await RunningService.start({ maxArchives: 1 });
  const alice = await service.register('alice', { collections: ['software'] });
  t.is((await create(alice, partial)).status, 201);
  const media = '/1/software/1/media/';
  const add = (filename: string) => alice.post(media, helloZip, { ...archiveHeaders(filename), ...key });
  t.is((await add('second.zip')).status, 400);
  const stored = await Array.fromAsync(service.service.log.readAll({ streamPrefixes: ['request-'] }));
  t.is(stored.length, 0);
  t.is((await alice.delete(media)).status, 204);
  t.is((await add('other.zip')).status, 201);
  t.is((await add('other.zip')).status, 201);
  t.is((await add('second.zip')).status, 409);
});

test('archives, metadata and the completion are recorded once per key and get the same response again', async (t) => {
  const { alice, service } = t.context;
  const place = await makeDeposit(alice, partial);
  const archive = () =>
    alice.post(`${place}media/`, helloZip, {
      ...archiveHeaders('more.zip'),
      'Idempotency-Key': 'archive',
    });
  const entry = () =>
    alice.post(`${place}metadata/`, helloEntry, {
      ...entryHeaders(),
      ...partial,
      'Idempotency-Key': 'entry',
    });
  const complete = () => alice.post(`${place}metadata/`, null, { ...final, 'Idempotency-Key': 'complete' });
  const [added, described, completed] = [await archive(), await entry(), await complete()];
  t.deepEqual([added.status, described.status, completed.status], [201, 201, 200]);
  await same(t, added.clone(), await archive());
  await alice.waitFor(`${place}status/`, 'done');
  await same(t, added, await archive());
  await same(t, described, await entry());
  await same(t, completed, await complete());
  const types = await Array.fromAsync(
    service.service.log.readStream(place.replace('/1/software/', 'deposit-').slice(0, -1)),
    ({ type }) => type,
  );
  t.deepEqual(types, [
    'DepositCreated',
    'ArchiveAdded',
    'MetadataAdded',
    'ArchiveAdded',
    'MetadataAdded',
    'DepositCompleted',
    'DepositVerified',
    'LoadingStarted',
    'DepositLoaded',
  ]);
});

test('the key of an empty POST to a deposit that is complete is recorded, too', async (t) => {
  const { alice } = t.context;
  const place = await makeDeposit(alice, partial);
  t.is((await alice.post(`${place}metadata/`, null, final)).status, 200);
  const headers = { ...final, 'Idempotency-Key': 'completed-before' };
  for (const _ of [1, 2]) t.is((await alice.post(`${place}metadata/`, null, headers)).status, 200);
  t.is((await create(alice, headers)).status, 409);
  t.is((await create(alice, { ...final, 'Idempotency-Key': 'unused-before' })).status, 201);
});

test('a PUT repeated with its key replaces nothing again, also after the completion, and a new one is refused then', async (t) => {
  const { alice, service } = t.context;
  const place = await makeDeposit(alice, partial);
  const media = (key: string) =>
    alice.put(`${place}media/`, helloZip, {
      ...archiveHeaders('new.zip'),
      ...partial,
      'Idempotency-Key': key,
    });
  const metadata = (key: string, progress: Record<string, string> = final) =>
    alice.put(`${place}metadata/`, helloEntry, { ...entryHeaders(), ...progress, 'Idempotency-Key': key });
  const [first, described] = [await media('put archive'), await metadata('put entry')];
  t.deepEqual([first.status, described.status], [204, 204]);
  await alice.waitFor(`${place}status/`, 'done');
  await same(t, first, await media('put archive'));
  await same(t, described, await metadata('put entry'));
  t.is((await metadata('another entry')).status, 405);
  t.is((await metadata('put entry', partial)).status, 409);
  const posted = await alice.post(`${place}metadata/`, helloEntry, {
    ...entryHeaders(),
    ...final,
    'Idempotency-Key': 'put entry',
  });
  t.is(posted.status, 409, 'a POST is another request');
  const types = await Array.fromAsync(
    service.service.log.readStream(place.replace('/1/software/', 'deposit-').slice(0, -1)),
    ({ type }) => type,
  );
  t.deepEqual(
    types.filter((type) => type.endsWith('Replaced')),
    ['ArchivesReplaced', 'MetadataReplaced'],
  );
});

test('a PUT to a File-IRI is repeated with its key and the same If-Match, until its archive is removed', async (t) => {
  const { alice } = t.context;
  const place = await makeDeposit(alice, partial);
  const { headers } = await alice.get(`${place}metadata/`);
  const replace = () =>
    alice.put(`${place}media/1/`, helloZip, {
      ...archiveHeaders('new.zip'),
      ...partial,
      'Idempotency-Key': `${place} file`,
      'If-Match': headers.get('etag') ?? '',
    });
  const first = await replace();
  t.is(first.status, 204);
  await same(t, first, await replace());
  t.is((await alice.delete(`${place}media/1/`)).status, 204);
  t.is((await replace()).status, 404);
});
