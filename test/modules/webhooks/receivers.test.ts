import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import { handleCommand, readState } from '../../../src/deposits/command-handler.ts';
import { notifications } from '../../../src/domain/aggregates.ts';
import { CircuitBreaker } from '../../../src/modules/webhooks/circuit-breaker.ts';
import { PendingNotifications } from '../../../src/modules/webhooks/pending-notifications.ts';
import { assertReachable, isPublicAddress } from '../../../src/modules/webhooks/receiver-address.ts';
import { generateSecret, isSecret, signatureHeaders } from '../../../src/modules/webhooks/signature.ts';
import { type Outcome, WebhookClient } from '../../../src/modules/webhooks/webhook-client.ts';
import { WebhookKey } from '../../../src/modules/webhooks/webhook-key.ts';
import { WebhookSender } from '../../../src/modules/webhooks/webhook-sender.ts';
import { Iris } from '../../../src/sword/iris.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { outgoing } from '../../../src/tools/outgoing.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import { anyContext, executeDeposit } from '../../../testing/domain/commands.ts';
import { createDeposit } from '../../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';

const NOT_PUBLIC = `
  0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 172.31.255.255
  168.63.129.16 192.0.0.8 192.31.196.1 192.52.193.1 192.168.1.1 192.175.48.6 198.18.0.1 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255
  :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 fc00::1 fd12:3456::1 fe80::1
  fe80::1%eth0 fec0::1 ff02::1 2001::1 2001:db8::1 2002:7f00:1::1 2620:4f:8000::1 3fff::1 4000::1
  localhost 1.2.3 08.8.8.8 1`.split(/\s+/);
const PUBLIC = `8.8.8.8 1.1.1.1 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 193.0.0.1 223.255.255.1
 168.63.129.15 168.63.129.17 192.31.195.1 192.31.197.1
  2606:4700:4700::1111 2620:4f:7fff::1 2620:4f:8001::1 2a00:1450:4001::1 2001:4860:4860::8888`.split(/\s+/);

test('only globally reachable addresses are public', (t) => {
  t.deepEqual(NOT_PUBLIC.filter(isPublicAddress), []);
  t.deepEqual(
    PUBLIC.filter((address) => !isPublicAddress(address)),
    [],
  );
});

/** Resolves to the port of a server once it listens, until the end of the test. */
async function listening(t: ExecutionContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends a notification without content to a receiver on this machine. */
async function post(port: number): Promise<Outcome> {
  using webhookClient = new WebhookClient({ allowPrivate: true }, 'test/1');
  return await webhookClient.post(`http://127.0.0.1:${port}/`, '{}', {}, new AbortController().signal);
}

/** Starts a server that only counts connections. */
async function counting(t: ExecutionContext): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  return { port: await listening(t, server), connections: () => connections };
}

test('nothing is sent to a private network, given by address or by name', async (t) => {
  const { port, connections } = await counting(t);
  using webhookClient = new WebhookClient({ allowPrivate: false }, 'test/1');
  const { signal } = new AbortController();
  for (const host of '127.0.0.1 localhost [::1] [::ffff:127.0.0.1] 2130706433 0x7f.1 127.1'.split(' ')) {
    const outcome = await webhookClient.post(`https://${host}:${port}/hook`, '{}', {}, signal);
    t.false(outcome.taken);
    if (!outcome.taken)
      t.regex(outcome.reason, /is not in a public network, and notifications are sent only there\.$/, host);
  }
  const plain = await webhookClient.post(`http://127.0.0.1:${port}/`, '{}', {}, signal);
  t.like(plain, {
    taken: false,
    reason: 'A webhook must be https, unless DEPOSIT_WEBHOOK_ALLOW_PRIVATE is true.',
  });
  t.is(connections(), 0);
  using allowed = new WebhookClient({ allowPrivate: true }, 'test/1');
  t.false((await allowed.post(`https://localhost:${port}/`, '{}', {}, signal)).taken);
  t.true(connections() > 0, 'unless it is allowed');
});

test('a response without an end counts by its status, and the connection is closed', async (t) => {
  let isOpen = false;
  const server = createHttpServer((_, res) => {
    const timer = setInterval(() => res.write('x'.repeat(10_000)), 1);
    res.once('close', () => {
      isOpen = true;
      clearInterval(timer);
    });
  });
  const port = await listening(t, server);
  const clock = {
    ...CLOCK_OF_NODE,
    setTimeout: () => CLOCK_OF_NODE.setTimeout(() => undefined), // only the number of bytes ends it
    timeoutSignal: () => new AbortController().signal,
  };
  t.deepEqual(await runInWorld({ clock }, () => post(port)), { taken: true });
  await until(async () => isOpen);
});

test('a kept connection that the receiver has closed is no failure', async (t) => {
  const used = new WeakSet<object>();
  let requests = 0;
  const server = createHttpServer(({ socket }, res) => {
    requests += 1;
    if (used.has(socket)) socket.destroy();
    else res.end();
    used.add(socket);
  });
  const url = `http://127.0.0.1:${await listening(t, server)}/`;
  using webhookClient = new WebhookClient({ allowPrivate: true }, 'test/1');
  for (let sent = 0; sent < 2; sent += 1)
    t.deepEqual(await webhookClient.post(url, '{}', {}, new AbortController().signal), { taken: true });
  t.is(requests, 3);
});

test('a receiver that closes a new connection is not sent the same again at once', async (t) => {
  const { port, connections } = await counting(t);
  t.false((await post(port)).taken);
  t.is(connections(), 1);
});

test('a changed webhook is not paused, and a paused one stays so among many others', async (t) => {
  const sender = new WebhookSender({ firstPause: 60_000, longestPause: 60_000 } as never);
  const breakerOf = (client: string, revision = 1) => sender.breakerOf({ client, revision } as ClientWebhook);
  const paused = breakerOf('alice');
  await paused.deliver(async () => ({ taken: false, reason: '', isUnreachable: true, retryAfter: 0 }));
  for (let other = 0; other < 1001; other += 1) breakerOf(`client-${other}`);
  t.is(breakerOf('alice').permits, 0);
  t.true(breakerOf('alice', 2).permits > 0);
  t.is(breakerOf('alice'), breakerOf('alice', 2), 'a view that is behind does not bring back the former one');
});

test('a response that stalls counts, and its connection is closed before the next is opened', async (t) => {
  const [sockets, atOnce] = [new Set<object>(), [] as number[]];
  const server = createHttpServer((_, res) => void res.writeHead(200).write('x'));
  server.on('connection', (socket) => {
    sockets.add(socket);
    setTimeout(() => atOnce.push(sockets.size), 50);
    socket.once('close', () => sockets.delete(socket));
  });
  const url = `http://127.0.0.1:${await listening(t, server)}/`;
  using webhookClient = new WebhookClient({ allowPrivate: true }, 'test/1');
  const begun = performance.now();
  for (let sent = 0; sent < 2; sent += 1)
    t.deepEqual(await webhookClient.post(url, '{}', {}, new AbortController().signal), { taken: true });
  t.true(performance.now() - begun < 18_000, 'each ends long before the time limit of a request');
  await until(async () => atOnce.length === 2);
  t.deepEqual(atOnce, [1, 1]);
});

test('a response that switches protocols is a refusal', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
    );
  });
  const outcome = await post(await listening(t, server));
  const reason = 'The connection failed: closed without an answer.';
  t.deepEqual(outcome, { taken: false, reason, isUnreachable: true, retryAfter: 0 });
});

test('a connection that this service cannot open is no fault of the receiver', async (t) => {
  using webhookClient = new WebhookClient({ allowPrivate: true }, 'test/1');
  const request = () => {
    throw Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
  };
  const { signal } = new AbortController();
  const outcome = await runInWorld({ outgoing: { ...outgoing, request } }, () =>
    webhookClient.post('http://127.0.0.1/', '{}', {}, signal),
  );
  const reason = 'This service could not open a connection: EMFILE.';
  t.deepEqual(outcome, { taken: false, reason, isUnreachable: true, retryAfter: 0 });
});

test('signatures are those of the Standard Webhooks specification', (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1614265330, body: '{"test": 2432232314}' };
  t.deepEqual(signatureHeaders(secret, message), {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  t.true(isSecret(secret));
  t.true(isSecret(generateSecret()));
  t.not(generateSecret(), generateSecret());
  for (const bad of [
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    secret.slice(6),
    `${secret}!`,
    `whsec_${'A'.repeat(100)}`,
  ])
    t.false(isSecret(bad), bad);
});

test('a sealed secret opens only with its key and for its client', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'keys', 'webhook.key');
  const [key, same] = await Promise.all([WebhookKey.make(file), WebhookKey.make(file)]);
  t.is((await stat(file)).mode & 0o777, 0o600);
  const sealed = key.seal('whsec_secret', 'alice');
  t.is(same.open(sealed, 'alice'), 'whsec_secret');
  t.not(key.seal('whsec_secret', 'alice').ciphertext, sealed.ciphertext);
  t.throws(() => key.open(sealed, 'bob'), { message: 'The webhook secret of bob is corrupt.' });
  const other = await WebhookKey.make(path.join(folder, 'other.key'));
  t.throws(() => other.open(sealed, 'alice'), {
    message: /was sealed with the key .* set the webhook again\.$/,
  });
  await t.throwsAsync(WebhookKey.read(path.join(folder, 'none')), { message: /is missing\.$/ });
  const cut = path.join(folder, 'cut.key');
  await writeFile(cut, 'c2hvcnQ=\n');
  await t.throwsAsync(WebhookKey.read(cut), { message: /is not a webhook key: expected 32 bytes/ });
});

const taken: Outcome = { taken: true };
const gone: Outcome = { taken: false, reason: 'Nobody answers.', isUnreachable: true, retryAfter: 0 };
const refused: Outcome = {
  taken: false,
  reason: 'The receiver answered 500.',
  isUnreachable: false,
  retryAfter: 0,
};

/** Runs one delivery with this outcome. */
async function delivery(breaker: CircuitBreaker, outcome: Outcome): Promise<void> {
  if (!breaker.tryAcquire()) throw new Error('There is no room.');
  await breaker.deliver(async () => outcome);
  breaker.release();
}

test('an unreachable receiver is paused, then tried by one delivery that resumes it for all', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 300, longestPause: 300 });
  const permits = breaker.permits;
  t.true(permits > 1);
  await delivery(breaker, gone);
  t.is(breaker.permits, 0);
  t.is(await breaker.acquire(), `The receiver is paused since another delivery failed. ${gone.reason}`);
  await until(async () => breaker.permits > 0);
  t.is(breaker.permits, 1);
  t.true(breaker.tryAcquire());
  t.is(breaker.permits, 0, 'only one delivery probes at a time');
  await breaker.deliver(async () => taken);
  breaker.release();
  t.is(breaker.permits, permits);
});

test('a circuit breaker opens only after refusals without an accepted delivery between them', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 1000, longestPause: 1000 });
  for (const outcome of [refused, refused, refused, refused, taken, refused, refused, refused, refused])
    await delivery(breaker, outcome);
  t.true(breaker.permits > 0);
  await delivery(breaker, refused);
  t.is(breaker.permits, 0);
});

test('each retry that an operator requests allows one probe of a receiver that is paused, not of one paused later', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 1000, longestPause: 1000 });
  breaker.allowProbe();
  await delivery(breaker, gone);
  for (const retry of ['the first', 'the second']) {
    t.is(breaker.permits, 0);
    breaker.allowProbe();
    t.is(breaker.permits, 1, retry);
    await delivery(breaker, gone);
  }
  t.is(breaker.permits, 0, 'the requested probe has been made');
  breaker.allowProbe();
  await delivery(breaker, taken);
  await delivery(breaker, gone);
  t.is(breaker.permits, 0);
});

test('the time that a receiver asks for counts also when it answers a requested probe', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 50, longestPause: 50 });
  await delivery(breaker, gone);
  breaker.allowProbe();
  await delivery(breaker, { ...refused, retryAfter: 60_000 });
  await pause(200);
  t.is(breaker.permits, 0);
});

test('a retry that is requested during a probe allows another one', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 100, longestPause: 100 });
  await delivery(breaker, gone);
  await until(async () => breaker.tryAcquire());
  breaker.allowProbe();
  t.is(breaker.permits, 0, 'one at a time');
  await breaker.deliver(async () => gone);
  breaker.release();
  t.is(breaker.permits, 1);
  await delivery(breaker, gone);
  t.is(breaker.permits, 0);
});

test('the permits of a receiver are granted in turn', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 1000, longestPause: 1000 });
  while (breaker.tryAcquire());
  const waiting = [breaker.acquire(), breaker.acquire()];
  breaker.release();
  breaker.release();
  t.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  t.is(breaker.permits, 0);
});

test('deliveries that fail together pause a receiver no longer than one', async (t) => {
  let now = 0;
  await runInWorld({ clock: { ...CLOCK_OF_NODE, monotonic: () => now } }, async () => {
    const breaker = new CircuitBreaker({ firstPause: 1000, longestPause: 1_000_000 });
    for (let { permits } = breaker; permits > 0; permits -= 1) await breaker.deliver(async () => gone);
    now += 1250;
    await delivery(breaker, gone);
    now += 2500;
    t.is(breaker.permits, 1);
  });
});

test('a limited number of deliveries wait for a receiver, and none once it is paused', async (t) => {
  const setTimeout = () => CLOCK_OF_NODE.setTimeout(() => undefined); // no wait reaches its time limit
  await runInWorld({ clock: { ...CLOCK_OF_NODE, setTimeout } }, async () => {
    const breaker = new CircuitBreaker({ firstPause: 60_000, longestPause: 60_000 });
    while (breaker.tryAcquire());
    const waiting = Array.from({ length: 16 }, () => breaker.acquire());
    t.is(await breaker.acquire(), 'The receiver is too slow: notifications are queued.');
    await breaker.deliver(async () => gone);
    breaker.release();
    for (const reason of await Promise.all(waiting)) t.regex(String(reason), /^The receiver is paused/);
  });
});

test("a pending notification of a newer release's event is retried with growing pauses, with the reason", async (t) => {
  await using log = new MemoryEventLog();
  const { revision } = await executeDeposit(log, 1, createDeposit({ depositId: 1 }));
  const id = randomUUID();
  const newer = { id, type: 'DepositCompleted', data: {}, metadata: { schemaVersion: 99 } };
  await log.append('deposit-1', revision, [newer]);
  const owner = { client: 'alice', collection: 'software' };
  const held = { ...owner, eventId: id, revision: revision + 1, reason: 'Nobody answers.', nextTryAt: null };
  const heldAt = '2026-03-01T10:00:00.000Z';
  const hold = { type: 'HoldNotification', depositId: 1, heldAt, ...held } as const;
  await handleCommand(log, notifications, 1, hold, anyContext());
  const pauses = { firstPause: 600_000, longestPause: 3_600_000 };
  const renderContext = { iris: new Iris('http://deposit.example'), refIdAliases: false };
  const webhookClient = { post: async () => taken };
  const keys = { keyFile: '', onKeyProblem: (): void => t.fail() };
  const logger = silentLogger;
  const sender = new WebhookSender({ ...pauses, ...keys, webhookClient, renderContext, logger });
  const webhooks = { refusalReason: async () => undefined };
  const deliveries = new PendingNotifications({ log, webhooks, sender, settings: pauses });
  const secret = { scheme: 'aes-256-gcm', keyId: '', iv: '', ciphertext: '', tag: '' } as const;
  const webhook = { client: 'alice', url: '', secret, since: '', revision: 0, setAt: '' };
  await deliveries.deliver(1, webhook, sender.breakerOf(webhook), AbortSignal.timeout(10_000));
  const { state } = await readState(log, notifications, 1);
  t.regex(state.reason ?? '', /^A DepositCompleted of schema version 99 cannot be read by this release/);
  t.true(Date.parse(state.nextTryAt ?? '') > Date.now() + 300_000);
  t.is(state.held.length, 1);
});

test('a webhook in a private network or without TLS is refused when it is set', async (t) => {
  const refusals: Readonly<Record<string, RegExp>> = {
    'http://example.org/hook': /must be https/,
    'https://169.254.169.254/latest': /169\.254\.169\.254 is not in a public network/,
    'https://localhost/hook': /localhost \((127\.0\.0\.1|::1)\) is not in a public network/,
    'https://[::ffff:10.0.0.1]/': /is not in a public network/,
  };
  for (const [url, message] of Object.entries(refusals)) {
    const expected = { code: 'RECEIVER_REFUSED', message };
    await t.throwsAsync(assertReachable(new URL(url), { allowPrivate: false }), expected);
  }
  await t.notThrowsAsync(assertReachable(new URL('https://8.8.8.8/hook'), { allowPrivate: false }));
  await t.notThrowsAsync(assertReachable(new URL('http://localhost/hook'), { allowPrivate: true }));
});
