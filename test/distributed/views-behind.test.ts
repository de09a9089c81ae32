import test from 'ava';
import { readList } from '../../testing/documents/listed-deposits.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloForm,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { EventSource } from '../../testing/http/event-source.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

test('a node whose views are behind answers every deposit with its current state', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [one, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const alice = await nodes.register(one, other);
  const depositor = nodes.depositorOver(alice, one, other);
  const old = await alice.post('/1/software/', helloForm, { ...formType, ...partial });
  await depositor.deposit(1); // through the other, whose views then have the old one, too
  nodes.double.dropSubscriptions('silence');

  const depositing = Promise.all([2, 3, 4, 5].map((turn) => depositor.deposit(turn)));
  const completed = await alice.post(`${other.url}/1/software/1/metadata/`, null, final);
  t.deepEqual([old.status, completed.status], [201, 200]);
  t.regex(await completed.text(), /<deposit_status>deposited</);
  t.is(await depositor.status(one.url, '1'), 'deposited');
  await depositing;
  t.deepEqual([depositor.falseMissing, depositor.unavailable, depositor.faults], [0, 0, []]);
});

const ORIGIN = 'https://forge.example/code/paint';

function formNaming(relation: string, origin: string): Buffer {
  const named = `<d:${relation}><d:origin url="${origin}"/></d:${relation}>`;
  const xml = entryXml(`<title>Paint</title><author><name>Ada</name></author>${named}`);
  return formOf([archivePart(), entryPart(xml)]);
}

test('a node whose views are behind accepts a version of an origin done on another node, and of no other', async (t) => {
  await using nodes = await DistributedNodes.start({ quietTime: 60_000 }); // before a node checks its silent views
  const behind = await nodes.add(['http']);
  const options = { collections: ['software'], providerUrl: 'https://forge.example/code' };
  const alice = await behind.register('alice', options);
  nodes.double.dropSubscriptions('silence');
  const ahead = await nodes.add(['http', 'reactors']);

  const first = formNaming('create_origin', ORIGIN);
  const created = await alice.post(`${ahead.url}/1/software/`, first, { ...formType, ...final });
  await alice.waitFor(created.headers.get('location')?.replace('metadata/', 'status/') ?? '', 'done');
  t.is((await readList(await alice.get('/1/software/'))).count, '0', 'its views do not have it');
  const headers = { ...formType, ...partial };
  const added = await alice.post('/1/software/', formNaming('add_to_origin', ORIGIN), headers);
  t.is(added.status, 201, await added.text());
  const unknown = await alice.post('/1/software/', formNaming('add_to_origin', `${ORIGIN}2`), headers);
  await assertSwordError(t, unknown, 404, 'NotFound');
});

test('a node whose views are behind accepts metadata for a deposit done on another node, and no other', async (t) => {
  await using nodes = await DistributedNodes.start({ quietTime: 60_000 }); // before a node checks its silent views
  const behind = await nodes.add(['http']);
  const options = { collections: ['software'], providerUrl: 'https://forge.example/code' };
  const alice = await behind.register('alice', options);
  const bob = await behind.register('bob', options);
  nodes.double.dropSubscriptions('silence');
  const ahead = await nodes.add(['http', 'reactors']);

  const created = await alice.post(`${ahead.url}/1/software/`, helloForm, { ...formType, ...final });
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  const status = await alice.waitFor(`${ahead.url}${edit.replace('metadata/', 'status/')}`, 'done');
  const context = /<deposit_swh_id_context>([^<]+)</.exec(status)?.[1] ?? '';
  const [swhid = ''] = context.split(';');

  const about = (reference: string) =>
    entryXml(
      `<title>T</title><author><name>A</name></author><d:reference><d:object swhid="${reference}"/></d:reference>`,
    );
  const describe = (client: typeof alice, reference: string) =>
    client.post('/1/software/', about(reference), { ...entryHeaders(), ...final });
  for (const reference of [swhid, context]) {
    const described = await describe(alice, reference);
    t.is(described.status, 201, await described.text());
  }
  await assertSwordError(t, await describe(bob, context), 400, 'ErrorBadRequest');
  const unknown = await describe(alice, `swh:1:rev:${'0'.repeat(40)}`);
  await assertSwordError(t, unknown, 400, 'ErrorBadRequest');

  const better = entryXml('<title>T</title><author><name>A</name></author>');
  const checking = { ...entryHeaders(), 'X-Check-SWHID': swhid };
  t.is(
    (await alice.put(edit, better, checking)).status,
    204,
    'a deposit done on another node is updated here',
  );
});

test('a node whose views are behind does not refuse the id of an event while the log is unreachable', async (t) => {
  await using nodes = await DistributedNodes.start({ quietTime: 60_000, retryTimeout: 1000 });
  const behind = await nodes.add(['http']);
  const alice = await behind.register('alice', { collections: ['software'] });
  t.is((await alice.post('/1/software/', helloForm, { ...formType, ...partial })).status, 201);
  nodes.double.dropSubscriptions('silence');
  const ahead = await nodes.add(['http', 'reactors']);
  await alice.post(`${ahead.url}/1/software/1/metadata/`, null, final);
  await alice.waitFor(`${ahead.url}/1/software/1/status/`, 'done');
  await using events = await EventSource.open(alice, `${ahead.url}/1/software/1/events/`);
  const resume = { 'Last-Event-ID': (await events.next()).id ?? '' };
  const path = '/1/software/1/events/';

  nodes.double.stop();
  await assertSwordError(t, await alice.get(path, resume), 503, 'ServiceUnavailable');
  await nodes.double.listen();
  await until(async () => (await alice.get(path, resume)).status === 204); // no more events will follow
  const refused = await alice.get(path, { 'Last-Event-ID': '99' });
  await assertSwordError(t, refused, 400, 'ErrorBadRequest');
});
