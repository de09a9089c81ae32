import { scryptSync } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { ClientLogin } from '../../projections/client-logins.ts';
import { Credentials } from '../../src/http/middleware/credentials.ts';
import { LoginAttempts } from '../../src/http/middleware/login-attempts.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { withTimeout } from '../../src/tools/concurrency/with-timeout.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { archiveHeaders, helloZip } from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import type { RunningService } from '../../testing/service/running-service.ts';
import { QUICK_COST, quickCredentialOf } from '../../testing/service/secret-password.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] } });

const SERVICE_DOCUMENT = '/1/servicedocument/';

function withAuthorization({ url }: RunningService, authorization: string | undefined): Promise<Response> {
  return fetch(url + SERVICE_DOCUMENT, {
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });
}

function basic(credentials: string, encoding: BufferEncoding = 'utf8'): string {
  return `Basic ${Buffer.from(credentials, encoding).toString('base64')}`;
}

test('every path answers 401 with a Basic challenge if the credentials are missing or invalid', async (t) => {
  const { service } = t.context;
  const wrong = [
    undefined,
    '',
    'Basic',
    'Basic !!!',
    'Bearer abc',
    basic('alice'),
    basic(':secret'),
    'Digest username="alice"',
    'secret',
  ];
  for (const authorization of wrong) {
    const answer = await withAuthorization(service, authorization);
    t.is(answer.headers.get('www-authenticate'), 'Basic realm="deposit", charset="UTF-8"');
    t.is(answer.headers.get('cache-control'), 'no-store');
    await assertSwordError(t, answer, 401, 'Unauthorized', authorization);
  }
  for (const target of ['/1/', '/nowhere', '/1/software/', '/1/software/1/status/']) {
    const answer = await fetch(service.url + target, { method: 'POST', body: 'x' });
    await assertSwordError(t, answer, 401, 'Unauthorized', target);
  }
});

test('an unknown user and a wrong password get the same response', async (t) => {
  const { service } = t.context;
  const [unknown, wrong] = [
    new TestClient(service.url, 'mallory'),
    new TestClient(service.url, 'alice', 'guess'),
  ];
  const answers = await Promise.all([unknown, wrong].map((client) => client.get(SERVICE_DOCUMENT)));
  const refusals = await Promise.all(
    answers.map(async (answer) => ({
      status: answer.status,
      headers: [...answer.headers].filter(([name]) => !['x-request-id', 'date'].includes(name)),
      body: (await answer.text()).replace(/<updated>.*<\/updated>/, ''),
    })),
  );
  t.is(refusals[0]?.status, 401);
  t.deepEqual(refusals[0], refusals[1]);
  t.notRegex(refusals[1]?.body ?? '', /alice|guess/);
});

test('the authentication scheme is case-insensitive', async (t) => {
  const { service, alice } = t.context;
  const answer = await withAuthorization(service, alice.authorization.replace('Basic', 'bAsIc  '));
  t.is(answer.status, 200);
});

test('a password may contain colons and any characters, composed or decomposed', async (t) => {
  const { service } = t.context;
  const credential = await quickCredentialOf('p:ä ☃');
  await service.administration.client({ type: 'RegisterClient', client: 'zoe', credential });
  await until(async () => (await withAuthorization(service, basic('zoe:p:ä ☃'))).status === 200);
  t.is((await withAuthorization(service, basic('zoe:p:a\u0308 ☃'))).status, 200);
  t.is((await withAuthorization(service, basic('zoe:p'))).status, 401);
});

test('credentials that are not UTF-8 are read as Latin-1, as Python sends them', async (t) => {
  const { service } = t.context;
  const credential = await quickCredentialOf('Größe\u00A0é');
  await service.administration.client({ type: 'RegisterClient', client: 'yves', credential });
  await until(async () => (await withAuthorization(service, basic('yves:Größe\u00A0é'))).status === 200);
  t.is((await withAuthorization(service, basic('yves:Größe\u00A0é', 'latin1'))).status, 200);
  t.is((await withAuthorization(service, basic('yves:Größe\u00A0è', 'latin1'))).status, 401);
});

test('a password with NUL bytes at its end, which scrypt ignores, is wrong', async (t) => {
  const { service, alice } = t.context;
  t.is((await withAuthorization(service, alice.authorization)).status, 200);
  const right = Buffer.from(alice.authorization.replace('Basic ', ''), 'base64').toString();
  for (const wrong of [`${right}\0`, `${right}\0\0\0`]) {
    await assertSwordError(t, await withAuthorization(service, basic(wrong)), 401, 'Unauthorized');
  }
  await t.throwsAsync(quickCredentialOf('secret\0'), { code: 'BAD_PASSWORD' });
});

test('a login or grant revoked while a body arrives refuses the write, and nothing is recorded', async (t) => {
  const { service } = t.context;
  const { administration } = service;
  const credential = await quickCredentialOf('another');
  const revocations = [
    { status: 401, revoke: (client: string) => administration.client({ type: 'DisableClient', client }) },
    {
      status: 401,
      revoke: (client: string) => administration.client({ type: 'ChangeCredential', client, credential }),
    },
    {
      status: 404,
      revoke: (client: string) =>
        administration.client({ type: 'RevokeCollection', client, collection: 'software' }),
    },
  ];
  for (const [index, { status, revoke }] of revocations.entries()) {
    const client = await service.register(`revoked-${index}`, { collections: ['software'] });
    const created = await client.post('/1/software/', helloZip, {
      ...archiveHeaders(),
      'In-Progress': 'true',
    });
    const media = `${pathOf(created)}media/`;
    const before = await service.service.log.head();
    const connections = [];
    for (const target of ['/1/software/', media]) {
      const connection = await RawConnection.to(service.url);
      connections.push(connection);
      const waiting = { 'Content-Length': helloZip.length, Expect: '100-continue' };
      await connection.send(requestHead(`POST ${target}`, client, { ...archiveHeaders(), ...waiting }));
      t.is((await connection.answers(1)).status, 100, 'the request is authenticated and its body awaited');
      await connection.send(helloZip.subarray(0, 20));
    }
    await revoke(client.name);
    for (const connection of connections) {
      await connection.send(helloZip.subarray(20));
      t.is((await connection.answers(2)).status, status);
      connection[Symbol.dispose]();
    }
    const after = service.service.log.readAll({ after: before, streamPrefixes: ['deposit-'] });
    const appended = (await Array.fromAsync(after)).filter(({ metadata }) =>
      JSON.stringify(metadata['actor']).includes(client.name),
    );
    t.deepEqual(appended, []);
  }
});

test('a disabled client is refused at once, even if it has logged in before', async (t) => {
  const { service } = t.context;
  const bob = await service.register('bob', { collections: ['software'] });
  t.is((await bob.get(SERVICE_DOCUMENT)).status, 200);
  await service.administration.client({ type: 'DisableClient', client: 'bob' });
  await soon(t, async () => (await bob.get(SERVICE_DOCUMENT)).status === 401);
  await service.administration.client({ type: 'EnableClient', client: 'bob' });
  await soon(t, async () => (await bob.get(SERVICE_DOCUMENT)).status === 200);
});

test('a changed password applies at once, and the previous one is refused', async (t) => {
  const { service } = t.context;
  const carol = await service.register('carol', { collections: ['software'] });
  const credential = await quickCredentialOf('another');
  await service.administration.client({ type: 'ChangeCredential', client: 'carol', credential });
  await soon(t, async () => (await carol.get(SERVICE_DOCUMENT)).status === 401);
  t.is((await new TestClient(service.url, 'carol', 'another').get(SERVICE_DOCUMENT)).status, 200);
});

test('granting and revoking a collection applies at once', async (t) => {
  const { service, alice } = t.context;
  await service.administration.grant('alice', 'later');
  await soon(
    t,
    async () =>
      (await alice.get('/1/later/1/status/')).status === 404 &&
      (await alice.send('OPTIONS', '/1/later/')).status === 204,
  );
  await service.administration.client({ type: 'RevokeCollection', client: 'alice', collection: 'later' });
  await soon(t, async () => (await alice.send('OPTIONS', '/1/later/')).status === 404);
});

/** Waits for the condition, milliseconds on an idle machine; polls only requests that cost no scrypt. */
async function soon(
  t: { true: (value: boolean, text: string) => void },
  isSo: () => Promise<boolean>,
): Promise<void> {
  const start = performance.now();
  let found = false;
  await until(async () => {
    found = await isSo();
    return found || performance.now() - start > 15_000;
  });
  t.true(found, 'within fifteen seconds');
}

/** Runs a test with a clock that only the test moves. */
function atTime(body: (t: ExecutionContext, time: { now: number }) => void) {
  return (t: ExecutionContext) => {
    const time = { now: 1_000_000 };
    runInWorld({ clock: { ...CLOCK_OF_NODE, monotonic: () => time.now } }, () => body(t, time));
  };
}

test(
  'an address is allowed 20 consecutive failed logins, then one per second',
  atTime((t, time) => {
    const attempts = new LoginAttempts();
    for (let count = 0; count < 20; count += 1) {
      t.true(attempts.mayTry('10.0.0.1'));
      attempts.failed('10.0.0.1');
    }
    t.false(attempts.mayTry('10.0.0.1'));
    t.true(attempts.mayTry('10.0.0.2'), 'other clients are not refused');
    time.now += 999;
    t.false(attempts.mayTry('10.0.0.1'));
    time.now += 1;
    t.true(attempts.mayTry('10.0.0.1'));
    attempts.failed('10.0.0.1');
    t.false(attempts.mayTry('10.0.0.1'));
    time.now += 3_600_000;
    for (let count = 0; count < 20; count += 1) attempts.failed('10.0.0.1');
    t.false(attempts.mayTry('10.0.0.1'), 'an hour of silence gives no more than 20');
  }),
);

test(
  'an address has no more concurrent login attempts than allowed failures',
  atTime((t) => {
    const attempts = new LoginAttempts();
    for (let count = 0; count < 20; count += 1) t.true(attempts.begin('10.0.0.1'));
    t.false(attempts.begin('10.0.0.1'));
    t.true(attempts.begin('10.0.0.2'));
    attempts.end('10.0.0.1');
    t.true(attempts.begin('10.0.0.1'), 'a successful login uses no token');
    attempts.end('10.0.0.1');
    attempts.failed('10.0.0.1');
    t.false(attempts.begin('10.0.0.1'));
  }),
);

const QUICK = { cost: QUICK_COST };

/** Returns a login with the password `secret`, at a cost below that. */
function loginOf(client: string): ClientLogin {
  const [costs, salt] = [{ N: 2, r: 1, p: 1 }, Buffer.alloc(16)];
  const digest = scryptSync('secret', salt, 32, costs).toString('base64');
  const credential = { scheme: 'scrypt', ...costs, salt: salt.toString('base64'), digest } as const;
  const granted = { disabled: false, collections: [], domain: null, providerUrl: null };
  return { client, credential, credentialRevision: 0, ...granted };
}

test('a login attempt releases its permit once verified, with any outcome', async (t) => {
  const names = Array.from({ length: 30 }, (_, number) => `client-${number}`);
  const logins = new Map(names.map((name) => [name, loginOf(name)]));
  const failed: string[] = [];
  const onFailed = (...login: string[]) => failed.push(login.join(' '));
  const credentials = new Credentials(logins, () => Promise.resolve(), { ...QUICK, onFailed });
  const at = (login: string) => credentials.verify(basic(login), '192.0.2.1');
  const message = 'Unknown client or wrong password.';
  await t.throwsAsync(at('client-0:wrong'), { code: 'Unauthorized', message });
  t.deepEqual(failed, ['client-0 192.0.2.1']);
  for (const name of names) t.is((await at(`${name}:secret`)).client, name);
});

test('a password costs one scrypt run for all spellings of its header', async (t) => {
  let runs = 0;
  const credentials = new Credentials(
    new Map([['alice', loginOf('alice')]]),
    async () => {
      runs += 1; // each run meets the old cost
    },
    QUICK,
  );
  const [, base64 = ''] = basic('alice:secret').split(' ');
  for (let blanks = 1; blanks <= 30; blanks += 1) {
    for (const scheme of ['Basic', 'basic', 'BASIC', 'bAsIc']) {
      const header = `${scheme}${' '.repeat(blanks)}${base64}${' '.repeat(blanks % 3)}`;
      t.is((await credentials.verify(header, '192.0.2.1')).client, 'alice');
      t.is(credentials.cachedLogin(header, '192.0.2.1')?.client, 'alice');
    }
  }
  t.is(runs, 1);
  t.is(credentials.cachedLogin(basic('alice:secret '), '192.0.2.1'), undefined);
});

test('logins whose new digests a log in an outage does not take delay no other login', async (t) => {
  const names = ['alice', 'bob', 'carol', 'dora'];
  const logins = new Map(names.map((name) => [name, loginOf(name)]));
  const outage = Promise.withResolvers<void>();
  const renew = ({ client }: { readonly client: string }) =>
    client === 'dora' ? Promise.resolve() : outage.promise;
  const credentials = new Credentials(logins, renew, QUICK);
  const login = (name: string, host: number) =>
    credentials.verify(basic(`${name}:secret`), `192.0.2.${host}`);
  const delayed = Promise.all(names.slice(0, 3).map((name, host) => login(name, host)));
  const other = await withTimeout(login('dora', 9), 60_000);
  outage.resolve();
  t.truthy(other);
  await delayed;
});

test('an address that guesses learns nothing from the logins of others', async (t) => {
  const credentials = new Credentials(new Map([['alice', loginOf('alice')]]), () => Promise.resolve(), QUICK);
  const [hers, guesser] = ['192.0.2.1', '192.0.2.2'];
  const from = (address: string, password: string) => credentials.verify(basic(`alice:${password}`), address);
  t.is((await from(hers, 'secret')).client, 'alice');
  const guesses = Array.from({ length: 30 }, (_, number) => from(guesser, `guess ${number}`));
  const secret = from(guesser, 'secret'); // while as many guesses are under way as may fail
  t.is(credentials.cachedLogin(basic('alice:secret'), guesser), undefined);
  await t.throwsAsync(secret, { code: 'ServiceUnavailable' });
  await Promise.allSettled(guesses);
  t.is((await from(hers, 'secret')).client, 'alice', 'the guessed client is not delayed');
  t.is(credentials.cachedLogin(basic('alice:secret'), hers)?.client, 'alice');
  t.is((await from('192.0.2.3', 'secret')).client, 'alice', 'another address is not limited');
});

test('the last header of a connection is valid there only for its address and while the login is unchanged', async (t) => {
  const logins = new Map([['alice', loginOf('alice')]]);
  const credentials = new Credentials(logins, () => Promise.resolve(), QUICK);
  const [hers, guesser, proxy] = ['192.0.2.1', '192.0.2.2', {}];
  const from = (address: string, password = 'secret') =>
    credentials.cachedLogin(basic(`alice:${password}`), address, proxy)?.client;
  await credentials.verify(basic('alice:secret'), hers, proxy);
  t.is(from(hers), 'alice');
  const guesses = Array.from({ length: 20 }, (_, number) =>
    credentials.verify(basic(`alice:guess ${number}`), guesser, proxy),
  );
  t.is(from(hers), 'alice');
  t.is(from(guesser), undefined, 'another client of the same proxy');
  t.is(from(hers, 'secret '), undefined);
  t.is(from(hers), 'alice');
  await Promise.allSettled(guesses);
  logins.set('alice', { ...loginOf('alice'), credentialRevision: 7 });
  t.is(from(hers), undefined, 'the password was changed');
  await credentials.verify(basic('alice:secret'), hers, proxy);
  t.is(from(hers), 'alice', 'the same password was set again');
});

test('a verified login is known on every connection of its address, also if a proxy adds the port', async (t) => {
  const credentials = new Credentials(new Map([['alice', loginOf('alice')]]), () => Promise.resolve(), QUICK);
  const from = (address: string, password: string) => credentials.verify(basic(`alice:${password}`), address);
  for (const address of ['192.0.2.1', '[2001:db8::1]']) {
    t.is((await from(`${address}:40000`, 'secret')).client, 'alice');
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, number) => from(`${address}:${41000 + number}`, `guess ${number}`)),
    );
    t.is((await from(`${address}:40001`, 'secret')).client, 'alice', address);
  }
});

test(
  'an IPv6 network counts as one address, an IPv4 address as itself',
  atTime((t) => {
    const attempts = new LoginAttempts();
    for (let count = 0; count < 20; count += 1) {
      attempts.failed(`2001:db8:0:1::${count.toString(16)}`);
      attempts.failed('::ffff:192.0.2.1');
      attempts.failed('fe80::1%eth0');
    }
    for (const same of [
      '2001:db8:0:1::99',
      '2001:0DB8::1:ffff:0:0:1',
      '2001:db8:0:1:a:b:c:d',
      '192.0.2.1',
      'fe80::2',
    ]) {
      t.false(attempts.mayTry(same), same);
    }
    for (const other of ['2001:db8:0:2::1', '2001:db8::1', '::ffff:192.0.2.2', '::1', '192.0.2.2']) {
      t.true(attempts.mayTry(other), other);
    }
  }),
);

test(
  'the port that a proxy appends is not part of an address',
  atTime((t) => {
    const attempts = new LoginAttempts();
    for (let port = 1; port <= 20; port += 1) {
      attempts.failed(`192.0.2.1:${port}`);
      attempts.failed(`[2001:db8::1]:${port}`);
    }
    for (const same of ['192.0.2.1:99', '192.0.2.1', '[2001:db8::2]:99', '[2001:db8::1]', '2001:db8::1'])
      t.false(attempts.mayTry(same), same);
    for (const other of ['192.0.2.2:1', '[2001:db8:0:1::1]:1', 'unknown'])
      t.true(attempts.mayTry(other), other);
  }),
);

test(
  'the oldest failed addresses are evicted in favour of new ones',
  atTime((t) => {
    const attempts = new LoginAttempts();
    for (let count = 0; count < 20; count += 1) attempts.failed('first');
    for (let count = 0; count < 10_000; count += 1) attempts.failed(`other-${count}`);
    t.true(attempts.mayTry('first'));
  }),
);
