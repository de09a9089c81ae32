import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { fullViews } from '../../testing/service/full-views.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { secretCredential } from '../../testing/service/secret-password.ts';

const PROVIDER = 'https://alice.example/code';
const ORIGIN = `${PROVIDER}/paint`;
const MANDATORY = '<title>Paint</title><author><name>Ada</name></author>';
/** Number of changed views of one kind in memory at which the projector stops. */
const MOST_UNSAVED = 1000;

/** Makes writes of the views fail, as on a full disk, but not those of events. */
function filled({ folder }: RunningService): DisposableStack {
  const stack = new DisposableStack();
  stack.use(fullViews(path.join(folder, 'views', 'views.1.sqlite')));
  return stack;
}

async function loaded(
  t: ExecutionContext,
  client: TestClient,
): Promise<{ statusIri: string; swhid: string }> {
  const xml = entryXml(`${MANDATORY}<d:create_origin><d:origin url="${ORIGIN}"/></d:create_origin>`);
  const form = formOf([archivePart(), entryPart(xml)]);
  const created = await client.post('/1/software/', form, { ...formType, ...final });
  t.is(created.status, 201);
  const statusIri = `${pathOf(created)}status/`;
  const status = await client.waitFor(statusIri, 'done');
  return { statusIri, swhid: /<deposit_swh_id>([^<]+)</.exec(status)?.[1] ?? '' };
}

function describe(client: TestClient, reference: string): Promise<Response> {
  const entry = entryXml(`${MANDATORY}<d:deposit><d:reference>${reference}</d:reference></d:deposit>`);
  return client.post('/1/software/', entry, { ...entryHeaders(), ...final });
}

test('loaded deposits are found in the log while a full disk prevents updates of the views', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], providerUrl: PROVIDER });
  using full = filled(service);
  const { swhid } = await loaded(t, alice);
  t.is((await describe(alice, `<d:origin url="${ORIGIN}"/>`)).status, 201);
  t.is((await describe(alice, `<d:object swhid="${swhid}"/>`)).status, 201);
  t.is((await describe(alice, `<d:origin url="${ORIGIN}-not"/>`)).status, 400);
  await assertSwordError(t, await alice.get(`/1/resolve/${swhid}/`), 503, 'ServiceUnavailable');
  full.dispose();
  t.is((await alice.get(`/1/resolve/${swhid}/`)).status, 200);
});

test('views that cannot be written on a full disk are not served, and recover when space is free', async (t) => {
  await using service = await RunningService.start();
  const [ada, bob] = [
    await service.register('ada', { collections: ['software'], providerUrl: PROVIDER }),
    await service.register('bob', { collections: ['software'] }),
  ];
  const { statusIri } = await loaded(t, ada);
  t.true((await ada.get(statusIri)).ok);
  using full = filled(service);
  const { administration } = service;
  const register = (number: number) =>
    administration.client({
      type: 'RegisterClient',
      client: `client-${number}`,
      credential: secretCredential,
    });
  let registered = MOST_UNSAVED;
  await Promise.all(Array.from({ length: registered }, (_, number) => register(number)));
  // It stops with an event after the first failed write, which may end after all of these were applied.
  await until(async () => {
    await register(registered++);
    return (await bob.get('/1/servicedocument/')).status === 503;
  });
  await administration.client({ type: 'DisableClient', client: 'ada' });
  for (const target of ['/1/servicedocument/', statusIri]) {
    const refused = await ada.get(target);
    t.true(Number(refused.headers.get('retry-after')) > 0);
    await assertSwordError(t, refused, 503, 'ServiceUnavailable');
  }
  const ready = await fetch(`${service.url}/health/ready`);
  t.is(ready.status, 503);
  t.regex(
    await ready.text(),
    /views: The views in views\.1\.sqlite cannot be written: database or disk is full\./,
  );
  full.dispose();
  await until(async () => (await bob.get('/1/servicedocument/')).status === 200);
  for (const target of ['/1/servicedocument/', statusIri]) t.is((await ada.get(target)).status, 401);
});
