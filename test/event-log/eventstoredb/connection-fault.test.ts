import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { EventStoreDbDeliveries } from '../../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { freePort } from '../../../testing/processes/free-port.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { startClusterNode } from '../cluster-node.ts';
import { eventually } from '../log-on-double.ts';

const PASSWORD = 'changeit';
const USER = `admin:${PASSWORD}@`;

test('a host name without an address is the reason of the error, with and without TLS', async (t) => {
  const reason = 'the host name of the server is unknown: correct it in the URL, or in the DNS';
  await failsWith(t, 'esdb://no-such-host.invalid:2113?tls=false', reason);
  await failsWith(t, `esdb://${USER}no-such-host.invalid:2113?tls=true`, reason);
  await failsWith(t, `esdb+discover://${USER}no-such-host.invalid:2113?tls=true`, reason);
});

test('a server that is not there is the reason, for each server of a cluster', async (t) => {
  const [first, second] = [await freePort(), await freePort()];
  const reason = 'the server cannot be reached (ECONNREFUSED)';
  await failsWith(t, `esdb://localhost:${first}?tls=false`, reason);
  await failsWith(t, `esdb://${USER}localhost:${first},localhost:${second}?tls=true`, reason);
});

test('a certificate that is not trusted, expired or of another host is the reason', async (t) => {
  const [expired, other] = [await secureServer(t, EXPIRED), await secureServer(t, OTHER)];
  await failsWith(
    t,
    `esdb://${USER}localhost:${other.port}?tls=true`,
    'the certificate of the server is not trusted: add the file of its CA to the URL, as tlsCAFile',
  );
  await failsWith(
    t,
    `esdb://${USER}localhost:${expired.port}?tls=true&tlsCAFile=${expired.ca}`,
    'the certificate of the server has expired: renew it on the server',
  );
  await failsWith(
    t,
    `esdb://${USER}localhost:${other.port}?tls=true&tlsCAFile=${other.ca}`,
    'the certificate of the server is for other host names: use one of them in the URL',
  );
  await failsWith(
    t,
    `esdb://${USER}127.0.0.1:${other.port}?tls=true&tlsCAFile=${other.ca}`,
    'with TLS the URL must have the host name of the server, not its IP address',
  );
});

test('TLS to a server without TLS is the reason, and the reverse', async (t) => {
  const plain = await EventStoreDbDouble.start();
  t.teardown(() => plain[Symbol.asyncDispose]());
  const web = http.createServer((_, response) => response.end());
  t.teardown(() => web.close());
  for (const port of [plain.ports[0], await portOf(web)])
    await failsWith(
      t,
      `esdb://${USER}localhost:${port}?tls=true`,
      'the server does not speak TLS on this port: correct the port in the URL, or add tls=false',
    );
  const secure = await secureServer(t, OTHER);
  await failsWith(
    t,
    `esdb://localhost:${secure.port}?tls=false`,
    'the server expects TLS: name a user in the URL, and remove tls=false',
  );
});

test('a server that can be reached, but refuses for now, has no other reason', async (t) => {
  const double = await EventStoreDbDouble.start();
  t.teardown(() => double[Symbol.asyncDispose]());
  double.faults.set('read', { kind: 'refuse', code: 14 }, Infinity);
  await failsWith(t, double.connectionString, 'the server cannot be reached');
});

test('a stop does not wait for the reason of an outage', async (t) => {
  const { connectionString, probed } = await silentServer(t);
  const log = await EventStoreDbEventLog.open({ connectionString });
  const stop = new AbortController();
  const next = log.subscribe({ signal: stop.signal })[Symbol.asyncIterator]().next();
  const deliveries = new EventStoreDbDeliveries(log, { connectionString, receivers: ['checker'] });
  const received = deliveries.receive('checker', 'deposit-', stop.signal)[Symbol.asyncIterator]().next();
  await eventually(() => probed() === 2); // each of the two connections looks for the reason
  const begun = performance.now();
  stop.abort();
  await Promise.all([next, received]);
  await deliveries[Symbol.asyncDispose]();
  await log[Symbol.asyncDispose]();
  const took = performance.now() - begun;
  t.true(took < 1500, `${took} ms, less than one server may take`);
  await eventually(() => probed() === 0);
  t.true(performance.now() - begun < 1800, 'the search has ended, too');
});

/** A server that refuses calls of the log, and is silent to the search for the reason. */
async function silentServer(t: ExecutionContext) {
  const silent = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (bytes.toString().startsWith('PRI * HTTP/2.0')) socket.resetAndDestroy();
      else silent.add(socket.on('close', () => silent.delete(socket)));
    });
  });
  t.teardown(() => server.close());
  const connectionString = `esdb://localhost:${await portOf(server)}?tls=false`;
  return { connectionString, probed: () => silent.size };
}

async function failsWith(t: ExecutionContext, connectionString: string, reason: string): Promise<void> {
  await using log = await EventStoreDbEventLog.open({ connectionString, retryTimeout: 300 });
  const error = await t.throwsAsync(log.head(), { code: 'EVENT_LOG_UNAVAILABLE' });
  t.is(error?.message, `Reading the last event failed: ${reason}.`);
  t.false(JSON.stringify(error).includes(PASSWORD));
}

/** Resolves to the port of a server with TLS, and to the file of its certificate. */
async function secureServer(t: ExecutionContext, cert: string) {
  const ca = path.join(await temporaryFolder(t), 'ca.pem');
  await writeFile(ca, cert);
  const server = tls.createServer({ cert, key: KEY, ALPNProtocols: ['h2'] });
  server.on('tlsClientError', () => undefined);
  t.teardown(() => server.close());
  return { port: await portOf(server), ca };
}

async function portOf(server: net.Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, resolve);
  await promise;
  return (server.address() as AddressInfo).port; // it listens on a port
}

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnU+uEkyFYTW9U4w+
Bkn+E0I1rjTWn1VppGjeB2FLYxuhRANCAARcb60i5jo90zZlKZzWHekxF0JwykKP
FVxGhDAPwRLzKMG8ZCy1j914Hkqtv2IYAWuC2KWdPpjLnAaqDHxj97GC
-----END PRIVATE KEY-----
`;

/** Self-signed for `localhost`, valid on the first day of 2020. */
const EXPIRED = `-----BEGIN CERTIFICATE-----
MIIBXzCCAQWgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARcb60i5jo90zZlKZzW
HekxF0JwykKPFVxGhDAPwRLzKMG8ZCy1j914Hkqtv2IYAWuC2KWdPpjLnAaqDHxj
97GCo0gwRjAPBgNVHRMBAf8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAd
BgNVHQ4EFgQUN0s4zYY14F3Y9F8n5yQSm3kdbsMwCgYIKoZIzj0EAwIDSAAwRQIh
ALQVGvRLabZoIDwXsoxmBT7FtFsDQn02IXtO7yrhL3bvAiB95PHdOfe8GGE0Jgfx
0QYJp2V4pL5u3DndDVQjaT8j0Q==
-----END CERTIFICATE-----
`;

/** Self-signed for `other.example`, valid until 2126. */
const OTHER = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUcQQYsL7zOtJlmRTrfcFeU8BRjQ8wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTAgFw0yNjExMjgxOTI1MjNaGA8yMTI2
MTEwNDE5MjUyM1owGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABFxvrSLmOj3TNmUpnNYd6TEXQnDKQo8VXEaEMA/BEvMo
wbxkLLWP3XgeSq2/YhgBa4LYpZ0+mMucBqoMfGP3sYKjbTBrMB0GA1UdDgQWBBQ3
SzjNhjXgXdj0XyfnJBKbeR1uwzAfBgNVHSMEGDAWgBQ3SzjNhjXgXdj0XyfnJBKb
eR1uwzAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDW90aGVyLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSAAwRQIhAOpFi6QrpfuugGfBAp7vJQFbYOJPbOe16HJN3gLh
B0+jAiAaZ2Mn5jidMaqkMAK9wD0R2q1ZhlrhwvO5FN5MC/Igog==
-----END CERTIFICATE-----
`;

test('servers that answer while none of them leads are named as that', async (t) => {
  const connectionString = await startClusterNode(t, { leads: () => false, appends: () => false });
  const options = { connectionString: `${connectionString}&maxDiscoverAttempts=2`, retryTimeout: 500 };
  await using log = await EventStoreDbEventLog.open(options);
  await t.throwsAsync(log.head(), {
    message: 'Reading the last event failed: no server was found that leads.',
  });
});
