import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { startService } from '../../src/service/service.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import {
  archiveHeaders,
  final,
  formType,
  helloEntry,
  helloForm,
  helloZip,
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { deposit, notifiedService, notify } from '../../testing/service/notified-service.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { tlsFiles } from '../../testing/service/tls-files.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

type Context = { service: RunningService; alice: TestClient; scrape: () => Promise<Exposition> };
const test = anyTest.serial as TestFn<Context>;

test.before(async (t) => {
  const service = await RunningService.start({ maxUploadSize: 100_000 });
  const alice = await service.register('alice', { collections: ['software'] });
  t.context = { service, alice, scrape: () => Exposition.of(service.folder) };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

test('a deposit is counted at every stage: request, upload, appends, objects, outcomes, state', async (t) => {
  const { alice, scrape } = t.context;
  const before = await scrape();
  await depositHello(alice);
  // The status is done a moment before the checker is. The loader counts an event whose load the checker recorded.
  const reactors = ['checker', 'loader'];
  await until(async () => {
    const grown = growth(before, await scrape());
    return reactors.every((reactor) => grown('reactor_events_done_total', { reactor }) >= 1);
  });
  const after = await scrape();
  const grown = growth(before, after);
  for (const reactor of reactors) t.is(grown('reactor_events_done_total', { reactor }), 1);
  const post = { method: 'POST', route: '/1/:collection' };
  t.is(grown('http_requests_total', { ...post, status: '201' }), 1);
  t.is(grown('http_request_duration_seconds_count', post), 1);
  t.is(grown('uploads_total', { outcome: 'stored' }), 1);
  t.is(grown('upload_received_bytes_total'), helloZip.length);
  t.is(grown('event_log_events_appended_total', { type: 'DepositCreated' }), 1);
  t.is(grown('event_log_events_appended_total', { type: 'DepositLoaded' }), 1);
  // The reservation of an id, the deposit, its verdict with its load.
  t.is(grown('event_log_appends_total', { outcome: 'appended' }), 3);
  t.is(grown('event_log_append_duration_seconds_count'), 3);
  // Archive and entry; listing and manifest.
  t.is(grown('archive_store_operation_duration_seconds_count', { operation: 'put' }), 4);
  t.true(grown('archive_store_stored_bytes_total') > helloZip.length + helloEntry.length);
  for (const outcome of ['verified', 'loaded']) t.is(grown('outcomes_total', { outcome }), 1);
  for (const outcome of ['rejected', 'failed']) t.is(grown('outcomes_total', { outcome }), 0);
  t.is(grown('deposits', { status: 'done' }), 1);
  t.is(after.value('deposit_http_requests_in_flight'), 0);
});

test('a rejection is counted with each of its reasons', async (t) => {
  const { alice, scrape } = t.context;
  const before = await scrape();
  const answer = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...final });
  await alice.waitFor(statusOf(answer), 'rejected');
  const after = await scrape();
  const grown = growth(before, after);
  t.is(grown('outcomes_total', { outcome: 'rejected' }), 1);
  t.is(after.value('deposit_outcome_reasons_total', { outcome: 'rejected', reason: 'NO_METADATA' }), 1);
  t.is(grown('deposits', { status: 'rejected' }), 1);
});

test('refused logins are counted apart from other answers with 429', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const abort = new AbortController();
  const options = { headers: { Authorization: alice.authorization }, signal: abort.signal };
  const follow = () => fetch(`${service.url}/1/software/events/`, options);
  const open: Response[] = []; // one that is collected as garbage is closed
  while (open.length < 20) open.push(await follow());
  t.true(open.every(({ status }) => status === 200));
  t.is((await follow()).status, 429);
  const refused = async () =>
    (await Exposition.of(service.folder)).value('deposit_logins_refused_total') ?? Number.NaN;
  t.is(await refused(), 0, 'no password was guessed');
  const Authorization = `Basic ${Buffer.from('alice:wrong').toString('base64')}`;
  const guess = async () =>
    (await fetch(`${service.url}/1/software/`, { headers: { Authorization } })).status;
  await until(async () => (await guess()) === 429);
  t.is(await refused(), 1);
  abort.abort();
});

test('refusals are counted by their SWORD error, also for invalid HTTP', async (t) => {
  const { alice, service, scrape } = t.context;
  const before = await scrape();
  await fetch(`${service.url}/1/software/`);
  await alice.get('/1/software/99/status/');
  const wrong = { ...archiveHeaders(), ...partial, 'Content-MD5': md5Of('another') };
  await alice.post('/1/software/', helloZip, wrong);
  using connection = await RawConnection.to(service.url);
  await connection.send('this is no HTTP\r\n\r\n');
  await connection.answers(1);
  const grown = growth(before, await scrape());
  t.is(grown('http_refusals_total', { error: 'Unauthorized', status: '401' }), 1);
  t.is(grown('http_refusals_total', { error: 'NotFound', status: '404' }), 1);
  t.is(grown('http_refusals_total', { error: 'ErrorChecksumMismatch', status: '412' }), 1);
  t.is(grown('http_refusals_total', { error: 'ErrorBadRequest', status: '400' }), 1);
  t.is(grown('http_requests_total', { route: 'none', status: '401' }), 1);
  t.is(grown('uploads_total', { outcome: 'refused' }), 1);
  t.is(grown('archive_store_broken_promises_total', { code: 'MD5_MISMATCH' }), 1);
  t.is(grown('archive_store_errors_total'), 0, 'the store is not at fault');
});

test('an upload aborted by its client is counted as such, with the received bytes', async (t) => {
  const { alice, service, scrape } = t.context;
  const before = await scrape();
  using connection = await RawConnection.to(service.url);
  const headers = { ...archiveHeaders(), 'Content-Length': 90_000 };
  await connection.send(requestHead('POST /1/software/', alice, headers));
  await connection.send(Buffer.concat([helloZip, Buffer.alloc(20_000)]));
  await until(async () => (await scrape()).value('deposit_http_requests_in_flight') === 1);
  t.is((await scrape()).sum('deposit_http_connections') > 0, true);
  connection.reset();
  await until(async () => growth(before, await scrape())('uploads_total', { outcome: 'broken_off' }) === 1);
  const grown = growth(before, await scrape());
  t.true(grown('upload_received_bytes_total') <= helloZip.length + 20_000);
  t.is(grown('http_requests_total', { status: 'none' }), 1);
  t.is(grown('http_requests_in_flight'), 0);
});

test('a lost race and a missing object are counted where they occur', async (t) => {
  const { alice, service, scrape } = t.context;
  const { log, store } = service.service;
  const status = await depositHello(alice);
  const id = Number(/(\d+)\/status/.exec(status)?.[1]);
  const events = await Array.fromAsync(log.readStream(`deposit-${id}`));
  const before = await scrape();
  await t.throwsAsync(log.append(`deposit-${id}`, 0, [newEventLike(events[0] as RecordedEvent)]), {
    code: 'WRONG_EXPECTED_REVISION',
  });
  const archive = events.find(({ type }) => type === 'ArchiveAdded')?.data['archive'] as { sha256: string };
  await store.remove(archive.sha256);
  t.is((await alice.get(`/1/software/${id}/media/`)).status, 500);
  const grown = growth(before, await scrape());
  t.is(grown('event_log_appends_total', { outcome: 'conflict' }), 1);
  t.is(grown('event_log_events_appended_total'), 0);
  t.is(grown('archive_store_errors_total', { operation: 'get', code: 'OBJECT_MISSING' }), 1);
  t.is(grown('http_refusals_total', { error: 'InternalError', status: '500' }), 1);
});

test('a snapshot of the views that a restored store lacks is no lost object', async (t) => {
  await using service = await RunningService.start({ viewSnapshotSize: 1 });
  await service.register('alice', { collections: ['software'] });
  await service.stop();
  await service.startAgain(); // a start looks once, and the views of the first may have been empty then
  const { log, store } = service.service;
  const stored = () => Array.fromAsync(log.readStream('view-snapshots'));
  await until(async () => (await stored()).length > 0);
  for (const { data } of await stored()) await store.remove(data['sha256'] as string);
  await service.stop();
  await rm(path.join(service.folder, 'views'), { recursive: true });
  await service.startAgain();
  const exposition = await Exposition.of(service.folder);
  t.is(exposition.value('deposit_views_begun', { from: 'log' }), 1);
  t.is(exposition.sum('deposit_archive_store_errors_total'), 0);
});

test('the time until the certificate expires is exported, and nothing without one', async (t) => {
  const { folder, ...tls } = await tlsFiles();
  t.teardown(() => rm(folder, { recursive: true }));
  await using service = await RunningService.start({ tls });
  const name = 'deposit_tls_certificate_remaining_seconds';
  const left = (Date.UTC(2126, 9, 28, 19, 38, 41) - Date.now()) / 1000;
  const exported = (await Exposition.of(service.folder)).value(name) ?? 0;
  t.true(Math.abs(exported - left) < 60, `${exported} instead of ${left}`);
  t.is((await t.context.scrape()).value(name), undefined);
});

test('deposits are counted by state, with the age of the oldest unfinished one', async (t) => {
  const { alice, scrape } = t.context;
  const before = await scrape();
  t.is(before.value('deposit_oldest_deposit_age_seconds', { status: 'partial' }), 0);
  const started = Date.now();
  await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const after = await scrape();
  t.is(growth(before, after)('deposits', { status: 'partial' }), 1);
  const age = after.value('deposit_oldest_deposit_age_seconds', { status: 'partial' }) ?? -1;
  t.true(age > 0 && age <= (Date.now() - started) / 1000, `${age} s`);
});

test('parked events are counted until an operator decides, on any node', async (t) => {
  const { alice, service, scrape } = t.context;
  const { log } = service.service;
  await depositHello(alice);
  const parked = async () => (await scrape()).value('deposit_reactor_parked_events', { reactor: 'loader' });
  t.is(await parked(), 0);
  const [event] = await Array.fromAsync(log.readStream('deposit-1'));
  await new EventLogParking(log).park('loader', event as RecordedEvent, new Error('Nothing helped.'), 5);
  t.is(await parked(), 1);
  t.is(await parked(), 1, 'also when it is queried again');
  const command = { type: 'SkipParked', reactor: 'loader', reason: 'It is known.' } as const;
  await service.administration.parking({ ...command, eventId: (event as RecordedEvent).id });
  t.is(await parked(), 0);
});

test('refusals, rejections, retries and parked events are exported with 0 before they occur', async (t) => {
  await using service = await RunningService.start();
  const exposition = await Exposition.of(service.folder);
  t.is(exposition.value('deposit_http_refusals_total', { error: 'ErrorContent', status: '415' }), 0);
  t.is(exposition.value('deposit_outcomes_total', { outcome: 'rejected' }), 0);
  t.is(exposition.value('deposit_event_log_appends_total', { outcome: 'conflict' }), 0);
  t.is(exposition.value('deposit_notifications_total', { outcome: 'failed' }), 0);
  t.is(exposition.value('deposit_notifier_failed_tries_total'), 0);
  for (const reactor of ['checker', 'loader'])
    t.is(exposition.value('deposit_reactor_failed_tries_total', { reactor }), 0, reactor);
  for (const reactor of ['checker', 'loader', 'notifier'])
    t.is(exposition.value('deposit_reactor_parked_events', { reactor }), 0, reactor);
});

test('refused and accepted notifications are counted', async (t) => {
  const { service, keyFile } = await notifiedService();
  await using _service = service;
  const alice = await service.register('alice', { collections: ['software'] });
  await using receiver = await WebhookReceiver.start();
  await receiver.down();
  await notify(service, 'alice', receiver, keyFile);
  await deposit(alice, 'software');
  const scrape = () => Exposition.of(service.folder);
  const outcomes = async (outcome: string) =>
    (await scrape()).value('deposit_notifications_total', { outcome }) ?? 0;
  await until(async () => (await outcomes('failed')) > 0);
  await until(async () => (await scrape()).value('deposit_notification_deposits_waiting') === 1);
  await receiver.up();
  await until(async () => (await outcomes('taken')) > 0);
  await until(async () => (await scrape()).value('deposit_notification_deposits_waiting') === 0);
  t.is((await scrape()).value('deposit_reactor_parked_events', { reactor: 'notifier' }), 0);
});

test('the lag of the notifier is zero without webhooks, then counts its unfinished events', async (t) => {
  const { service, keyFile } = await notifiedService();
  await using _service = service;
  const lag = async (unit: string) =>
    (await Exposition.of(service.folder)).value(`deposit_reactor_lag_${unit}`, { reactor: 'notifier' }) ?? -1;
  const alice = await service.register('alice', { collections: ['software'] });
  await deposit(alice, 'software');
  await alice.waitFor('/1/software/1/status/', 'done');
  t.is(await lag('events'), 0);
  await using receiver = await WebhookReceiver.start();
  receiver.manners = () => 'silent';
  await notify(service, 'alice', receiver, keyFile);
  await deposit(alice, 'software');
  await until(async () => (await lag('events')) > 0 && (await lag('seconds')) > 0);
  await receiver.down(); // its connections break: it is delayed, and the notifier continues
  await until(async () => (await lag('events')) === 0);
  t.is(await lag('seconds'), 0);
});

test('a node that makes anchors exports the time of its last anchored log; another one exports zeros', async (t) => {
  const without = await t.context.scrape();
  t.is(without.value('deposit_anchor_interval_seconds'), 0);
  t.is(without.value('deposit_anchor_age_seconds'), 0);
  await using service = await RunningService.start({ anchorInterval: 1 / 600 });
  const age = async () => (await Exposition.of(service.folder)).value('deposit_anchor_age_seconds') ?? -1;
  t.is((await Exposition.of(service.folder)).value('deposit_anchor_interval_seconds'), 0.1);
  const key = path.join(service.folder, 'keys', 'anchor-ed25519.pem');
  await service.register('alice', { collections: ['software'] });
  await until(async () => existsSync(key) && (await age()) < 0.3);
  await writeFile(key, 'no key');
  await service.administration.grant('alice', 'another');
  await until(async () => (await age()) > 0.6);
  await rm(key);
  await until(async () => (await age()) < 0.3);
  t.pass();
});

test('lag and queues are exported, and are zero without work', async (t) => {
  const exposition = await t.context.scrape();
  for (const reactor of ['checker', 'loader']) {
    t.is(exposition.value('deposit_reactor_lag_events', { reactor }), 0);
    t.is(exposition.value('deposit_reactor_lag_seconds', { reactor }), 0);
    t.is(exposition.value('deposit_reactor_streams_under_way', { reactor }), 0);
  }
  for (const view of ['deposit-status', 'deposit-content', 'client-logins', 'collections']) {
    t.is(exposition.value('deposit_view_lag_events', { view }), 0, view);
  }
  t.is(exposition.value('deposit_views_rebuilding'), 0);
  t.is(exposition.value('deposit_archive_workers'), 2);
  t.is(exposition.value('deposit_archive_jobs_waiting'), 0);
  t.is(exposition.value('deposit_password_checks_waiting'), 0);
  t.is(exposition.value('deposit_event_log_appends_in_flight'), 0);
  t.is(exposition.value('deposit_ready'), 1);
  t.is(exposition.sum('deposit_scrape_faults_total'), 0);
});

test('a node without the role http exports the lag of its views', async (t) => {
  await using reacting = await RunningService.start({ roles: ['reactors'] });
  const exposition = await Exposition.of(reacting.folder);
  t.is(exposition.value('deposit_view_lag_events', { view: 'deposit-status' }), 0);
  t.is(exposition.value('deposit_view_lag_seconds', { view: 'deposit-status' }), 0);
  t.is(exposition.value('deposit_views_rebuilding'), 0);
});

test('deposits have no count while the views are filled', async (t) => {
  await using double = await EventStoreDbDouble.start();
  double.faults.set('subscribe', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const folder = await temporaryFolder(t);
  const settings = { DEPOSIT_DATA_DIR: folder, DEPOSIT_PORT: '0', DEPOSIT_OPERATOR_PORT: '0' };
  const config = readConfig({ ...settings, DEPOSIT_EVENT_LOG: double.connectionString });
  await using service = await startService(config, { logger: silentLogger });
  service.ready.catch(() => undefined); // it never is
  const exposition = await Exposition.of(folder);
  t.is(exposition.value('deposit_deposits', { status: 'done' }), undefined);
  t.is(exposition.value('deposit_oldest_deposit_age_seconds', { status: 'loading' }), undefined);
});

test('every metric has a help text, a unit if needed, and labels with few values, no names or ids', async (t) => {
  const { types, helps, samples } = await t.context.scrape();
  const ours = [...types].filter(([name]) => !/^(process|nodejs)_/.test(name));
  t.true(ours.length > 30);
  for (const [name, type] of ours) {
    t.regex(name, /^deposit_[a-z_]+$/);
    t.true((helps.get(name) ?? '').length > 20, name);
    t.is(type === 'counter', name.endsWith('_total'), name);
    if (type === 'histogram') t.regex(name, /_seconds$/);
    t.false(
      samples.some(({ metric, value }) => metric === name && Number.isNaN(value)),
      name,
    );
  }
  for (const { metric, labels } of samples.filter(({ metric }) => metric.startsWith('deposit_'))) {
    for (const [label, value] of Object.entries(labels)) {
      t.notRegex(value, /alice|software|hello|[0-9a-f]{8}-|\/1\/[^:s]/, `${metric} ${label}`);
    }
  }
  t.true(samples.length < 1000, `${samples.length} samples`);
  t.true(types.has('process_cpu_seconds_total') && types.has('nodejs_eventloop_lag_p99_seconds'));
});

test('requests of any kind cause few series', async (t) => {
  const { alice, service, scrape } = t.context;
  const series = async () =>
    (await scrape()).samples.filter(({ name }) => name === 'deposit_http_requests_total').length;
  for (const id of [1, 2]) await alice.get(`/1/software/${id}/status/`);
  await alice.send('PROPFIND', '/1/software/1/status/');
  await fetch(`${service.url}/nothing/at/all`);
  const before = await series();
  for (let id = 1; id <= 20; id += 1) {
    await alice.get(`/1/software/${id % 2 === 0 ? 1 : 2}/status/?turn=${id}`);
    await fetch(`${service.url}/nothing/${id}`);
    await alice.send(id % 2 === 0 ? 'REPORT' : 'LOCK', '/1/software/1/status/');
  }
  t.is(await series(), before);
});

test('another service in the same process has its own counters', async (t) => {
  await using other = await RunningService.start();
  const ours = await t.context.scrape();
  const theirs = await Exposition.of(other.folder);
  t.true((ours.value('deposit_outcomes_total', { outcome: 'loaded' }) ?? 0) > 0);
  t.is(theirs.value('deposit_outcomes_total', { outcome: 'loaded' }), 0);
  t.is(theirs.sum('deposit_http_requests_total'), 0);
  t.is(theirs.value('deposit_deposits', { status: 'done' }), 0);
});

test('concurrent scrapes return the same complete result', async (t) => {
  const found = await Promise.all(Array.from({ length: 8 }, () => t.context.scrape()));
  const lags = found.map((exposition) =>
    exposition.samples.filter(({ name }) => name === 'deposit_view_lag_events').map(({ value }) => value),
  );
  t.true((lags[0]?.length ?? 0) >= 4);
  for (const lag of lags) t.deepEqual(lag, lags[0]);
});

/** Deposits and waits until it is done; resolves to the State-IRI. */
async function depositHello(alice: TestClient): Promise<string> {
  const status = statusOf(await alice.post('/1/software/', helloForm, { ...formType, ...final }));
  await alice.waitFor(status, 'done');
  return status;
}

function statusOf(answer: Response): string {
  return `${pathOf(answer)}status/`;
}

/** Returns by how much the sum of some samples has grown. */
function growth(before: Exposition, after: Exposition) {
  return (name: string, labels: Record<string, string> = {}): number =>
    after.sum(`deposit_${name}`, labels) - before.sum(`deposit_${name}`, labels);
}

function newEventLike({ type, data, metadata }: RecordedEvent) {
  return { id: crypto.randomUUID(), type, data, metadata };
}
