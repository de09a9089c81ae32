import assert from 'node:assert/strict';
import test from 'ava';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { secretCredential } from '../../testing/service/secret-password.ts';

test('password guessing is limited, then refused with 503, without delaying other addresses', async (t) => {
  t.timeout(300_000); // forty passwords, one after another
  await using service = await RunningService.start({ trustProxy: true });
  const bob = { client: 'bob', credential: secretCredential } as const;
  await service.administration.client({ type: 'RegisterClient', ...bob });
  const alice = await service.register('alice', { collections: ['software'] }); // after bob: she is known like him
  const shared = { 'X-Forwarded-For': '192.0.2.7' };
  t.is((await alice.get('/1/servicedocument/', shared)).status, 200);
  const guess = (number: number, from: string): Promise<Response> =>
    new TestClient(service.url, 'alice', `guess ${number}`).get('/1/servicedocument/', {
      'X-Forwarded-For': from,
    });
  const guesses = Array.from({ length: 40 }, (_, number) => guess(number, 'made-up, 192.0.2.7'));
  await Promise.any(guesses.map(async (answer) => assert.equal((await answer).status, 503)));
  const elsewhere = await new TestClient(service.url, 'bob').get('/1/servicedocument/', {
    'X-Forwarded-For': '192.0.2.9',
  });
  t.is(elsewhere.status, 200, 'a first login from another address is accepted');
  const answers = await Promise.all(guesses);
  const statuses = answers.map(({ status }) => status);
  const looked = statuses.filter((status) => status === 401).length;
  // A slow machine returns tokens meanwhile.
  t.true(looked >= 20 && looked < 40, `${looked} are verified: the number of failures an address may have`);
  const putOff = answers[statuses.indexOf(503)] as Response;
  t.is(putOff.headers.get('retry-after'), '1');
  await assertSwordError(t, putOff, 503, 'ServiceUnavailable');
  let refused = await guess(99, 'another, 192.0.2.7');
  // A slow machine has returned tokens meanwhile, one a second: ten guesses at a time use them up.
  for (let more = 100; refused.status !== 429 && more < 400; more += 10) {
    const round = await Promise.all(
      Array.from({ length: 10 }, (_, index) => guess(more + index, '192.0.2.7')),
    );
    refused = round.find(({ status }) => status === 429) ?? refused;
  }
  t.is(refused.headers.get('retry-after'), '1');
  t.regex(await assertSwordError(t, refused, 429, 'TooManyRequests'), /: try again in a second\.$/);
  t.is((await guess(99, '192.0.2.7, 192.0.2.8')).status, 401, "the address is that of the proxy's client");
  const known = await alice.get('/1/servicedocument/', shared);
  t.is(known.status, 200, 'a client that has logged in from there before is accepted');
});
