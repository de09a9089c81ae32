import { clock } from '../../src/tools/clock.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  entryHeaders,
  entryXml,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] } }, { maxWrites: 2 });

test('uploads above the concurrency limit are refused early, and accepted when others have ended', async (t) => {
  const { service, alice } = t.context;
  const head = headOf(alice);
  const slow = await Promise.all([RawConnection.to(service.url), RawConnection.to(service.url)]);
  const [first, second] = slow;
  for (const connection of slow) {
    await connection.send(head);
    t.is((await connection.answers(1)).status, 100);
  }
  const another = () => alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  t.is((await another()).status, 503);
  using third = await RawConnection.to(service.url);
  await third.send(head);
  const refused = await third.answers(1);
  t.is(refused.status, 503, 'no part of the body was awaited');
  t.regex(refused.head, /^retry-after: \d+$/im);
  assertErrorDocument(t, refused.body, 'ServiceUnavailable');
  t.is((await alice.get('/1/servicedocument/')).status, 200, 'reading continues');
  for (const connection of [first, second]) {
    await connection.send(helloZip);
    t.is((await connection.answers(2)).status, 201);
    connection[Symbol.dispose]();
  }
  t.is((await another()).status, 201);
});

test('one client leaves write capacity for other clients', async (t) => {
  await using service = await RunningService.start({ maxWrites: 4 });
  const alice = await service.register('alice', { collections: ['software'] });
  const bob = await service.register('bob', { collections: ['software'] });
  const slow = await Promise.all([1, 2, 3].map(() => RawConnection.to(service.url)));
  for (const connection of slow) {
    await connection.send(headOf(alice));
    t.is((await connection.answers(1)).status, 100);
  }
  const create = (client: TestClient) =>
    client.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const refused = await create(alice);
  t.is(refused.status, 503);
  t.regex(await refused.text(), /already processes 3 uploads and changes of yours/);
  t.is((await create(bob)).status, 201);
  for (const connection of slow) {
    await connection.send(helloZip);
    t.is((await connection.answers(2)).status, 201);
    connection[Symbol.dispose]();
  }
  t.is((await create(alice)).status, 201);
});

test('two clients with slow bodies leave write capacity for a third', async (t) => {
  await using service = await RunningService.start({ maxWrites: 16 });
  const collections = ['software'];
  const alice = await service.register('alice', { collections });
  const bob = await service.register('bob', { collections });
  const carol = await service.register('carol', { collections });
  const statuses: number[] = [];
  using held = new DisposableStack();
  for (const client of [alice, bob]) {
    for (let count = 0; count < 16; count += 1) {
      const connection = held.use(await RawConnection.to(service.url));
      await connection.send(headOf(client));
      statuses.push((await connection.answers(1)).status);
    }
  }
  t.is(statuses.filter((status) => status === 100).length, 15);
  const created = await carol.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  t.is(created.status, 201);
});

test('a large entry of one client waits for one of another client, not for all of them', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const bob = await service.register('bob', { collections: ['software'] });
  const large = entryXml(`<title>A</title><author><name>A</name></author>${'<x>y</x>'.repeat(8000)}`);
  const send = (client: TestClient) => client.post('/1/software/', large, { ...entryHeaders(), ...partial });
  const progress = { answered: 0 };
  const others = Array.from({ length: 24 }, async () => {
    const { status } = await send(alice);
    progress.answered += 1;
    return status;
  });
  while (progress.answered === 0) await clock.sleep(1);
  t.is((await send(bob)).status, 201);
  t.true(progress.answered < 16, `${progress.answered} of 24 were answered before`);
  t.deepEqual(new Set(await Promise.all(others)), new Set([201]));
});

/** Returns the head of an upload whose body waits for `100 Continue`. */
function headOf(client: TestClient): string {
  const waiting = { 'Content-Length': helloZip.length, Expect: '100-continue' };
  return requestHead('POST /1/software/', client, { ...archiveHeaders(), ...partial, ...waiting });
}
