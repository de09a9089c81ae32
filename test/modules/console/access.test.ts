import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Role } from '../../../src/domain/person/person.ts';
import { mayReach } from '../../../src/modules/console/access/reach.ts';
import { type Permission, permits } from '../../../src/modules/console/protocol/permissions.ts';
import { consoleLink } from '../../../src/operations/people/console-link.ts';
import { ControlClient } from '../../../src/service/operator-port/control-client.ts';
import { ConsoleSession, linkFor, ownHeaders } from '../../../testing/browser/sign-in.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';
import { RunningService } from '../../../testing/service/running-service.ts';
import { testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] }, bob: { collections: ['software'] } });

/** Lists the permissions of each role a second time. */
const MATRIX: Readonly<Record<Role | 'nobody', readonly string[]>> = {
  nobody: ['public'],
  moderator: ['public', 'session'],
  depositor: ['public', 'session', 'deposits:read', 'contents:read'],
  auditor: ['public', 'session', 'deposits:read', 'service:read'],
  operator: [
    'public',
    'session',
    'deposits:read',
    'contents:read',
    'service:read',
    'deposits:act',
    'work:act',
  ],
};

type RouteRow = { method: string; path: string; permission: string };

/** Headers of a browser that opens an address. */
const OPENED = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

async function routesOf(service: RunningService): Promise<readonly RouteRow[]> {
  const operator = await ConsoleSession.begin(service, 'operator');
  return ((await (await operator.get('/console/api/routes')).json()) as { routes: RouteRow[] }).routes;
}

function sessionOf(service: RunningService, role: Role | 'nobody'): Promise<ConsoleSession> | ConsoleSession {
  if (role === 'nobody') return new ConsoleSession(service.url, '');
  return ConsoleSession.begin(service, role, role === 'depositor' ? 'alice' : undefined);
}

for (const role of Object.keys(MATRIX) as (Role | 'nobody')[]) {
  test.serial(`each route answers ${role} according to its permission`, async (t) => {
    const { service } = t.context;
    const routes = await routesOf(service);
    t.true(routes.length > 15);
    let session = await sessionOf(service, role);
    for (const { method, path, permission } of routes) {
      const target = path.replaceAll(/[:*]\w+/g, '1');
      const isPage = method === 'GET' && !path.startsWith('/console/api/');
      const headers = isPage ? OPENED : {};
      const answer = await (method === 'GET' ? session.get(target, headers) : session.post(target));
      const name = `${method} ${path}`;
      const denied = answer.status === 401 || answer.status === 403;
      const isToSignIn = answer.headers.get('Location')?.startsWith('/console/sign-in?to=') === true;
      if (MATRIX[role].includes(permission)) {
        const isOwnRefusal = ['/console/enter', '/console/sign-in'].includes(path); // of the empty form
        t.false((denied && !isOwnRefusal) || isToSignIn, `${name} is permitted, but ${answer.status}`);
      } else if (role === 'nobody' && isPage) t.true(answer.status === 303 && isToSignIn, name);
      else t.is(answer.status, role === 'nobody' ? 401 : 403, name);
      await answer.body?.cancel();
      if (/\/(?:end-sessions|sign-out)$/.test(path)) session = await sessionOf(service, role);
    }
  });
}

test('a role has only the listed permissions', (t) => {
  t.false(permits('operator', 'deposits:delete' as Permission));
  t.false(permits(undefined, 'session'));
});

test('a sign-in link is valid once', async (t) => {
  const { service } = t.context;
  const link = new URL(await linkFor(service, 'auditor'));
  const redeem = (code: string) =>
    fetch(new URL('/console/enter', service.url), {
      method: 'POST',
      headers: ownHeaders(service.url),
      body: JSON.stringify({ code }),
    });
  t.is((await redeem('x')).status, 401);
  const first = await redeem(link.hash.slice(1));
  t.is(first.status, 200);
  t.regex(first.headers.getSetCookie()[0] ?? '', /^deposit-console=\S+; Path=\/; HttpOnly; SameSite=Strict$/);
  t.is((await redeem(link.hash.slice(1))).status, 401);
});

test('a sign-in link is invalid once the sessions of the person were ended', async (t) => {
  const { service } = t.context;
  const ends = {
    ended: ['EndSessions'],
    disabled: ['DisablePerson', 'EnablePerson'],
  } as const;
  for (const [person, types] of Object.entries(ends)) {
    const link = await linkFor(service, 'auditor', undefined, person);
    for (const type of types) await service.administration.person({ type, person });
    const later = await linkFor(service, 'auditor', undefined, person); // the views have the end then
    await t.throwsAsync(ConsoleSession.ofLink(service.url, link), undefined, person);
    t.truthy((await ConsoleSession.ofLink(service.url, later)).cookie);
  }
});

test('a link signs in to the page that was asked for before, and to no other site', async (t) => {
  const { service } = t.context;
  const [origin, page] = [new URL(service.url).origin, '/console/deposits/7?at=3&q=a%3Bb'];
  const asked = async (to: string) => {
    const answer = await fetch(new URL(`/console/sign-in?to=${encodeURIComponent(to)}`, service.url));
    return answer.headers.getSetCookie();
  };
  const enteredAt = async (cookie: string) => {
    const code = new URL(await linkFor(service, 'auditor')).hash.slice(1);
    const answer = await new ConsoleSession(service.url, cookie).post('/console/enter', { code });
    const { to } = (await answer.json()) as { to: string };
    return { to, cookies: answer.headers.getSetCookie() };
  };
  const [cookie = ''] = await asked(page);
  t.regex(cookie, /^deposit-console-to=\S+; Path=\/console\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  const entered = await enteredAt(cookie.split(';', 1)[0] ?? '');
  t.is(entered.to, page);
  t.true(
    entered.cookies.some((one) => /^deposit-console-to=;.*Max-Age=0$/.test(one)),
    'it is used once',
  );
  for (const to of [
    '//evil.example/console/',
    'https://evil.example/console/',
    'javascript:alert(1)//console/',
    '/\\evil.example',
    '/console/..//evil.example',
    '/console/../1/software/',
    '/console/enter',
    '/console/sign-in?to=/console/work',
    '/console/api/verifier',
    'http://[',
    '',
  ]) {
    const cookies = await asked(to);
    t.regex(cookies[0] ?? '', /^deposit-console-to=;/, to);
    const forged = await enteredAt(`deposit-console-to=${Buffer.from(to).toString('base64url')}`);
    t.regex(new URL(forged.to, origin).href, new RegExp(`^${origin}/console/$`), to);
  }
  t.is((await enteredAt('deposit-console-to=%ff;')).to, '/console/');
});

test('a sign-in link that was used is invalid after a restart as well', async (t) => {
  await using service = await RunningService.start();
  const link = await linkFor(service, 'auditor');
  await ConsoleSession.ofLink(service.url, link);
  await service.stop();
  await service.startAgain();
  await t.throwsAsync(ConsoleSession.ofLink(service.url, link), { message: /^No session: 401 / });
  await ConsoleSession.begin(service, 'auditor');
});

test.serial('an event ends all sessions of a person, also of a disabled one', async (t) => {
  const { service } = t.context;
  const one = await ConsoleSession.begin(service, 'auditor');
  const other = await ConsoleSession.begin(service, 'auditor');
  t.is((await one.get('/console/api/overview')).status, 200);
  t.is((await one.post('/console/api/end-sessions')).status, 303);
  t.is((await other.get('/console/api/overview')).status, 401);
  t.is((await other.get('/console/', OPENED)).headers.get('Location'), '/console/sign-in?to=%2Fconsole%2F');
  const third = await ConsoleSession.begin(service, 'moderator');
  await service.administration.person({ type: 'DisablePerson', person: 'moderator' });
  await until(async () => (await third.get('/console/api/verifier')).status === 401);
  await t.throwsAsync(linkFor(service, 'moderator'), { code: 'PERSON_DISABLED' });
  await service.administration.person({ type: 'EnablePerson', person: 'moderator' });
});

test('a session ends after 30 minutes of inactivity and after 12 hours, and an altered cookie is invalid', async (t) => {
  const { service } = t.context;
  const session = await ConsoleSession.begin(service, 'operator');
  const [name, sealed = ''] = session.cookie.split('=');
  const statusOf = async (from: ConsoleSession) => (await from.get('/console/api/overview')).status;
  const statusWith = (cookie: string) => statusOf(new ConsoleSession(service.url, `${name}=${cookie}`));
  const statusAged = async (idle: number, age: number) => {
    const times = { seenAt: Date.now() - idle, signedInAt: Date.now() - age };
    return statusOf(await session.at(service.folder, times));
  };
  const minute = 60_000;
  t.is(await statusWith(sealed), 200);
  t.is(await statusAged(29 * minute, 60 * minute), 200);
  t.is(await statusAged(31 * minute, 60 * minute), 401);
  t.is(await statusAged(minute, 721 * minute), 401);
  t.is(await statusAged(-minute, -minute), 200, 'the clock of another node is ahead');
  t.is(await statusAged(-31 * minute, -31 * minute), 401, 'the clock was ahead, and has been set back');
  t.is(await statusAged(minute, -721 * minute), 401);
  t.is(await statusWith(`${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`), 401);
  t.is(await statusWith(''), 401);
});

test('a browser that opens a refused address gets a page, a script JSON', async (t) => {
  const { service } = t.context;
  const [moderator, auditor] = [
    await ConsoleSession.begin(service, 'moderator'),
    await ConsoleSession.begin(service, 'auditor'),
  ];
  for (const [session, path, status, text] of [
    [moderator, '/console/deposits', 403, 'Your role does not permit this.'],
    [auditor, '/console/nothing', 404, 'There is nothing at this address.'],
    [auditor, '/console/api/deposits/999', 404, 'Deposit 999 not found.'],
    [auditor, '/console/api/deposits?q=a+b+c+d+e+f+g+h+i', 400, 'A search has at most 8 words.'],
    [auditor, '/console/%ff', 404, 'There is nothing at this address.'],
    [auditor, '/console/api/sign-out', 405, 'GET is not possible here.'],
  ] as const) {
    const page = await session.get(path, OPENED);
    t.is(page.status, status);
    t.is(page.headers.get('Content-Type'), 'text/html; charset=utf-8');
    t.true((await page.text()).includes(text), path);
    const answer = await session.get(path);
    t.is(answer.status, status);
    t.true(((await answer.json()) as { error: Error }).error.message.startsWith(text), path);
  }
  const out = await new ConsoleSession(service.url, '').get('/console/api/overview', OPENED);
  t.is(out.headers.get('Location'), '/console/sign-in?to=%2Fconsole%2Fapi%2Foverview');
});

test('a console that could not be opened is opened by the next request', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'keys', 'console-aes256.key');
  await mkdir(path.dirname(file), { mode: 0o700 });
  await writeFile(file, 'no key', { mode: 0o600 });
  const service = await RunningService.startIn(folder);
  t.teardown(() => service[Symbol.asyncDispose]());
  const status = async () => (await fetch(new URL('/console/sign-in', service.url))).status;
  t.deepEqual([await status(), await status()], [500, 500]);
  await rm(file);
  t.is(await status(), 200);
});

test('only a page of this console can change anything', async (t) => {
  const { service } = t.context;
  const session = await ConsoleSession.begin(service, 'operator');
  const own = ownHeaders(service.url);
  const post = async (headers: Record<string, string>) =>
    (await session.post('/console/api/jobs', { act: 'retry', ids: [999] }, headers)).status;
  t.is(await post(own), 202);
  t.is(await post({ ...own, 'Sec-Fetch-Site': 'same-origin' }), 202);
  t.is(await post({ ...own, 'Sec-Fetch-Site': 'cross-site' }), 403);
  t.is(await post({ ...own, 'Sec-Fetch-Site': 'same-site' }), 403);
  t.is(await post({ ...own, Origin: 'https://elsewhere.example' }), 403);
  t.is(await post({ ...own, Origin: 'null' }), 403);
  t.is(await post({ ...own, 'Content-Type': 'text/plain' }), 403);
  const { 'X-Console': _, ...without } = own;
  t.is(await post(without), 403);
});

test('a page that shows another viewer than the session can neither read nor act', async (t) => {
  const { service } = t.context;
  const session = await ConsoleSession.begin(service, 'operator');
  const own = ownHeaders(service.url);
  const act = (viewer: string) =>
    session.post('/console/api/jobs', { act: 'retry', ids: [999] }, { ...own, 'X-Console-Viewer': viewer });
  t.is((await act('person:operator')).status, 202);
  for (const viewer of ['person:rosa', 'client:operator', '']) {
    const refused = await act(viewer);
    t.is(refused.status, 409, viewer);
    t.like(await refused.json(), { error: { code: 'OTHER_VIEWER' } });
  }
  for (const path of ['/console/api/live', '/console/api/deposits', '/console/api/jobs']) {
    t.is((await session.get(path, { 'X-Console-Viewer': 'client:alice' })).status, 409, path);
    const link = await session.get(`${path}?viewer=client:alice`);
    t.is(link.status, 409, `a link: ${path}`);
    const message =
      'This link is for another person or client, and operator has signed in. Open the page in the console and follow the link there.';
    t.like(await link.json(), { error: { code: 'OTHER_VIEWER', message } });
  }
  t.is((await session.get('/console/api/deposits?viewer=person:operator')).status, 200);
  const form = { Origin: new URL(service.url).origin, 'Content-Type': 'application/x-www-form-urlencoded' };
  t.is((await session.post('/console/api/end-sessions?viewer=person:rosa', {}, form)).status, 409);
  t.is((await session.get('/console/api/overview')).status, 200, 'the sessions have not ended');
});

test('a Host that is in no URL is no error of the service', async (t) => {
  const { service } = t.context;
  const { cookie } = await ConsoleSession.begin(service, 'auditor');
  for (const [path, status] of [
    ['/console/sign-in?to=%2Fconsole%2Fwork', 303],
    ['/console/api/deposits?status=done', 200],
    ['/console/api/deposits?viewer=person:rosa', 409],
  ] as const) {
    const headers = { Host: 'localhost:65536', Cookie: cookie }; // no port is so large
    const sent = request(new URL(path, service.url), { headers }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    t.is(answer.resume().statusCode, status, path);
  }
});

test('a local console answers only this machine, and only under its name', (t) => {
  const config = { console: 'loopback', trustProxy: false } as const;
  const from = (peer: string, headers: Record<string, string>) =>
    ({ socket: { remoteAddress: peer }, headers }) as unknown as IncomingMessage;
  const local = { host: 'localhost:8080' };
  t.true(mayReach(from('127.0.0.1', local), config));
  t.true(mayReach(from('::ffff:127.0.0.1', { host: '127.0.0.1' }), config));
  t.true(mayReach(from('::1', { host: '[::1]:8080' }), config));
  t.false(mayReach(from('192.0.2.1', local), config));
  t.false(mayReach(from('127.0.0.1', { host: 'rebound.example:8080' }), config));
  t.false(mayReach(from('127.0.0.1', { ...local, 'x-forwarded-for': '192.0.2.1' }), config));
  t.false(mayReach(from('127.0.0.1', local), { ...config, trustProxy: true }));
  t.false(mayReach(from('127.0.0.1', local), { ...config, console: 'off' }));
});

test('no link is issued for a console that answers no browser', async (t) => {
  await using service = await RunningService.start({ trustProxy: true });
  t.is((await fetch(new URL('/console/', service.url))).status, 401);
  await t.throwsAsync(linkFor(service, 'operator'), {
    message: /DEPOSIT_TRUST_PROXY=true: set DEPOSIT_CONSOLE=public/,
  });
});

test('a node without the role http has no console, and adds no person', async (t) => {
  await using service = await RunningService.start({ roles: ['reactors'] });
  const control = await ControlClient.find(service.folder);
  const actor = { kind: 'operator', name: 'rosa' } as const;
  await t.throwsAsync(consoleLink(service.service.log, control as ControlClient, actor, undefined), {
    message:
      /^The service has no console: it runs with DEPOSIT_ROLES=reactors\. Run the command on a node with/,
  });
  t.deepEqual(await Array.fromAsync(service.service.log.readStream('person-rosa')), []);
});

test('two first links of an operator at once are both issued, and add the operator once', async (t) => {
  const { log } = t.context.service.service;
  const control = {
    stateWhenFound: async () => ({ roles: ['http'] }),
    consoleCode: async ({ person }: { readonly person: string }) => `https://deposit.example/#${person}`,
  } as unknown as ControlClient;
  const actor = { kind: 'operator', name: 'ruth' } as const;
  const links = await Promise.all([1, 2].map(() => consoleLink(log, control, actor, undefined)));
  t.deepEqual(
    links.map(({ person, role }) => [person, role]),
    [
      ['ruth', 'operator'],
      ['ruth', 'operator'],
    ],
  );
  t.is((await Array.fromAsync(log.readStream('person-ruth'))).length, 1);
});

test('a link is to the root of the host, as the pages are, also where the base URL has a path', async (t) => {
  await using service = await RunningService.start({
    console: 'public',
    baseUrl: 'https://deposit.example/sword',
  });
  t.regex(await linkFor(service, 'operator'), /^https:\/\/deposit\.example\/console\/enter#/);
});

test('a console that only this machine reaches by http works in every browser, also if clients use https', async (t) => {
  const baseUrl = 'https://deposit.example';
  for (const [console, secure] of [
    ['loopback', ''],
    ['public', '; Secure'],
  ] as const) {
    await using service = await RunningService.start({ console, baseUrl });
    const code = new URL(await linkFor(service, 'auditor')).hash.slice(1);
    const asked = await fetch(new URL('/console/sign-in?to=/console/deposits', service.url));
    const entered = await new ConsoleSession(service.url, '').post('/console/enter', { code });
    const [page = '', session = ''] = [asked, entered].map(({ headers }) => headers.getSetCookie()[0] ?? '');
    t.regex(page, new RegExp(`^deposit-console-to=.*; Max-Age=600${secure}$`));
    const name = secure === '' ? 'deposit-console' : '__Host-deposit-console';
    t.regex(session, new RegExp(`^${name}=\\S+; Path=/; HttpOnly; SameSite=Strict${secure}$`));
  }
});

test('a disabled console serves nothing, and browsers get only listed files', async (t) => {
  const { service } = t.context;
  await using without = await RunningService.start({ console: 'off' });
  t.is((await fetch(new URL('/console/', without.url))).status, 401);
  await t.throwsAsync(linkFor(without, 'operator'), { message: /The console is off: set DEPOSIT_CONSOLE=/ });
  const page = await (await fetch(new URL('/console/enter', service.url))).text();
  const base = /\/console\/assets\/[0-9a-f]+\//.exec(page)?.[0] ?? '';
  const statusOf = async (name: string) => (await fetch(new URL(base + name, service.url))).status;
  t.is(await statusOf('src/modules/console/browser/main.ts'), 200);
  for (const name of [
    'src/modules/console/access/sessions.ts',
    'package.json',
    'src/tools/cryptography/password.ts',
  ])
    t.is(await statusOf(name), 404, name);
  t.is(await statusOf('..%2f..%2fpackage.json'), 404);
  await policiesOf(t, service.url);
});

async function policiesOf(t: ExecutionContext, url: string): Promise<void> {
  const { headers } = await fetch(new URL('/console/sign-in', url));
  const policy = headers.get('Content-Security-Policy') ?? '';
  t.regex(policy, /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self';/);
  t.regex(policy, /require-trusted-types-for 'script'/);
  t.notRegex(policy, /unsafe/);
  t.is(headers.get('Cache-Control'), 'no-store');
  t.is(headers.get('Referrer-Policy'), 'same-origin');
}

test.serial('a body that is too large is refused, and the service continues', async (t) => {
  const { service } = t.context;
  const headers = ownHeaders(service.url);
  const large = JSON.stringify({ code: 'x'.repeat(200_000) });
  const answer = await fetch(new URL('/console/enter', service.url), {
    method: 'POST',
    headers,
    body: large,
  });
  t.is(answer.status, 413);
  t.regex(await answer.text(), /TOO_LARGE/);
  t.is((await fetch(new URL('/health/live', service.url))).status, 200);
});

test('a body that does not arrive ends', async (t) => {
  const bodyTimeouts = { base: 300, bytesPerMs: 1000, idle: 300 };
  await using service = await RunningService.start({ bodyTimeouts });
  const { hostname, port } = new URL(service.url);
  await using socket = connect(Number(port), hostname);
  const lines = [
    'POST /console/sign-in HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Origin: ${new URL(service.url).origin}`,
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 1000',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\nname=`);
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
  t.regex(answer.toString(), /^HTTP\/1.1 408 /);
});

test('an event stream ends with its session, and does not prolong it', async (t) => {
  const { service } = t.context;
  const begun = await ConsoleSession.begin(service, 'operator');
  const [minute, margin] = [60_000, 6000];
  for (const [ended, idle, age] of [
    ['after 30 minutes of inactivity', 30 * minute - margin, 60 * minute],
    ['after 12 hours', 2 * minute, 720 * minute - margin],
  ] as const) {
    const times = { seenAt: Date.now() - idle, signedInAt: Date.now() - age };
    const session = await begun.at(service.folder, times);
    const stream = await session.get('/console/api/live');
    t.is(stream.status, 200);
    t.deepEqual(stream.headers.getSetCookie(), []);
    t.notRegex(await stream.text(), /data:/, ended);
    t.is((await session.get('/console/api/live')).status, 401, ended);
  }
});

test('an answer that shared caches may store renews no session', async (t) => {
  const { service } = t.context;
  const session = await ConsoleSession.begin(service, 'operator');
  const idling = await session.at(service.folder, { seenAt: Date.now() - 120_000 });
  const page = await idling.get('/console/');
  t.is(page.headers.getSetCookie().length, 1);
  const [asset = ''] = /\/console\/assets\/[^"]+style\.css/.exec(await page.text()) ?? [];
  const answer = await idling.get(asset);
  t.is(answer.headers.get('Cache-Control'), 'public, max-age=31536000, immutable');
  t.deepEqual(answer.headers.getSetCookie(), []);
  await answer.body?.cancel();
});

test.serial(
  'a copy of the cookie is worth nothing once its session was ended, also that of a client',
  async (t) => {
    const { service } = t.context;
    for (const session of [
      await ConsoleSession.begin(service, 'auditor'),
      await ConsoleSession.ofClient(service.url, 'alice', 'secret'),
    ]) {
      t.is((await session.get('/console/api/overview')).status, 200);
      t.is((await session.post('/console/api/sign-out')).status, 303);
      t.is((await session.get('/console/api/overview')).status, 401);
    }
    const other = await ConsoleSession.begin(service, 'auditor');
    t.is((await other.get('/console/api/overview')).status, 200, 'other sessions continue');
  },
);
