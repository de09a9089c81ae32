import { cp } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { startService } from '../../src/service/service.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { ConsoleSession, linkFor, ownHeaders } from '../../testing/browser/sign-in.ts';
import { final, formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { Exposition } from '../../testing/service/exposition.ts';

test('nodes of each role report their state, also without their log, and name what they cannot report', async (t) => {
  await using nodes = await DistributedNodes.start({ callTimeout: 2000, retryTimeout: 3000 });
  const [serving, loading] = [await nodes.add(['http']), await nodes.add(['reactors'])];
  const alice = await nodes.register(serving);
  const answer = await alice.post('/1/software/', helloForm, { ...formType, ...final });
  const status = (answer.headers.get('location') ?? '').replace(/\/metadata\/$/, '/status/');
  await alice.waitFor(status, 'done');
  const loader = { reactor: 'loader' };
  await until(
    async () => (await Exposition.of(loading.folder)).value('deposit_reactor_lag_events', loader) === 0,
  );
  const [atServing, atLoading] = [await Exposition.of(serving.folder), await Exposition.of(loading.folder)];
  t.is(atServing.value('deposit_deposits', { status: 'done' }), 1);
  t.is(atServing.value('deposit_outcomes_total', { outcome: 'loaded' }), 0);
  t.false(atServing.types.has('deposit_reactor_lag_events'));
  t.is(atLoading.value('deposit_outcomes_total', { outcome: 'loaded' }), 1);
  t.is(atLoading.value('deposit_reactor_lag_seconds', loader), 0);
  t.is(atLoading.value('deposit_ready'), 1);
  t.false(atLoading.types.has('deposit_deposits'));

  const faults = (exposition: Exposition): number =>
    exposition.value('deposit_scrape_faults_total', { part: 'loader_lag' }) ?? 0;
  const before = faults(atLoading); // on a busy machine the log may not have answered in time
  nodes.double.stop();
  const alone = await Exposition.of(loading.folder);
  t.is(alone.value('deposit_ready'), 0);
  t.is(alone.value('deposit_readiness_check', { check: 'event log' }), 0);
  t.is(alone.value('deposit_reactor_lag_events', loader), undefined, 'no answer instead of a stale one');
  t.is(faults(alone), before + 1);
  t.is(alone.value('deposit_outcomes_total', { outcome: 'loaded' }), 1);
  await nodes.double.listen();
  await until(
    async () => (await Exposition.of(loading.folder)).value('deposit_reactor_lag_events', loader) === 0,
  );
});

for (const role of ['http', 'reactors'] as const) {
  test(`a node with the role ${role} does not start while its log cannot be reached`, async (t) => {
    await using nodes = await DistributedNodes.start({ callTimeout: 300, retryTimeout: 500 });
    const { eventLog, archiveStore } = nodes.enginesAt();
    nodes.double.stop();
    const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: await temporaryFolder(t) });
    const options = { logger: silentLogger };
    const start = startService({ ...config, eventLog, archiveStore, roles: [role] }, options);
    await t.throwsAsync(start, { code: 'EVENT_LOG_UNAVAILABLE' });
    t.is(nodes.s3.buckets.size, 0, 'it is unknown whether the log names objects');
  });
}

test('a node with the role reactors is ready once its views are, as its reactors begin with them', async (t) => {
  await using nodes = await DistributedNodes.start({ callTimeout: 300 });
  nodes.double.faults.set('subscribe', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: await temporaryFolder(t) });
  const options = { logger: silentLogger };
  await using node = await startService({ ...config, ...nodes.enginesAt(), roles: ['reactors'] }, options);
  const ready = () => fetch(`${node.url}/health/ready`);
  const refused = await ready();
  t.is(refused.status, 503);
  t.regex(await refused.text(), /views: they catch up with the event log\./);
  t.is(nodes.double.faults.seen('consume'), 0);
  nodes.double.faults.clear();
  await until(async () => (await ready()).ok && nodes.double.faults.seen('consume') > 0);
});

test('a sign-in link to the console is accepted, once, by another node with the same key, and by no other', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [one, other, stranger] = [
    await nodes.add(['http']),
    await nodes.add(['http']),
    await nodes.add(['http']),
  ];
  const enter = (url: string, link: string) =>
    fetch(new URL('/console/enter', url), {
      method: 'POST',
      headers: ownHeaders(url),
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    });
  const link = await linkFor(one, 'auditor');
  await cp(path.join(one.folder, 'keys'), path.join(other.folder, 'keys'), { recursive: true });
  t.is((await enter(stranger.url, link)).status, 401);
  const session = await ConsoleSession.ofLink(other.url, link);
  t.is((await enter(other.url, link)).status, 401);
  const overview = (cookie: string) =>
    fetch(new URL('/console/api/overview', one.url), { headers: { cookie } });
  t.is((await overview(session.cookie)).status, 200);
  const [name] = session.cookie.split('=');
  t.is((await overview(`${name}=${new URL(link).hash.slice(1)}`)).status, 401, 'a code is no session');
});
