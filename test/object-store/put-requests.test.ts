import { EventEmitter } from 'node:events';
import type { ClientRequest, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import test from 'ava';
import { MinioBucket } from '../../src/object-store/s3/bucket.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { type OutgoingRequests, runInWorld } from '../../src/tools/outside-world.ts';
import { signatureFault } from '../../testing/s3/s3-signature.ts';
import { md5Of, newBody, sha256Of } from './bodies.ts';

const BODY = newBody(100);
const DIGESTS = { sha256: sha256Of(BODY), md5: md5Of(BODY) };
const PLACE = {
  endpoint: { host: 'store.example', port: 9000, tls: false },
  bucket: 'deposits',
  region: 'eu-west-1',
  prefix: 'service/',
  accessKey: 'key',
  secretKey: 'secret',
};

/** Puts an object with a store that accepts everything. Resolves to the request, and to why its signature is wrong. */
async function put(bucket: MinioBucket, now: Date, query = '') {
  let sent: RequestOptions = {};
  const request: OutgoingRequests['request'] = (options) => {
    sent = options;
    const end = () => {
      const headers = { etag: `"${DIGESTS.md5}"` };
      const response = Readable.from([]).once('close', () => outgoing.emit('close'));
      outgoing.emit('response', Object.assign(response, { statusCode: 200, headers }));
    };
    const outgoing = Object.assign(new EventEmitter(), { setTimeout: () => undefined, end });
    return outgoing as unknown as ClientRequest; // the part that is used
  };
  const outgoing: OutgoingRequests = {
    agent: () => ({ destroy: () => undefined }) as never,
    request,
    fetch: () => Promise.reject(new Error('no fetch')),
  };
  await runInWorld({ outgoing, clock: { ...CLOCK_OF_NODE, date: () => now } }, () =>
    bucket.send(
      bucket.keyOf(DIGESTS.sha256),
      { length: BODY.length, digests: DIGESTS, open: () => BODY },
      query,
    ),
  );
  const list = sent.headers as readonly string[];
  const headers = Object.fromEntries(
    list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : [])),
  );
  const signed = { method: 'PUT', url: sent.path ?? '', headers };
  return { sent, headers, fault: signatureFault(signed, { ...PLACE, now }) };
}

test('a PUT is signed with the key of its day', async (t) => {
  const bucket = new MinioBucket(PLACE);
  for (const time of ['2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2026-11-30T23:59:59.999Z']) {
    const { fault, headers } = await put(bucket, new Date(time));
    t.is(fault, undefined);
    t.is(headers['x-amz-content-sha256'], DIGESTS.sha256);
    t.is(headers['content-md5'], Buffer.from(DIGESTS.md5, 'hex').toString('base64'));
  }
});

test('the prefix of a key is escaped as in every other request', async (t) => {
  const { fault, sent } = await put(new MinioBucket({ ...PLACE, prefix: "a%20b+c=d/(é)!*'~/" }), new Date());
  t.is(fault, undefined);
  t.true(sent.path?.startsWith('/deposits/a%2520b%2Bc%3Dd/%28%C3%A9%29%21%2A%27~/v1/sha256/'));
});

test('the query of a part is signed', async (t) => {
  const { fault, sent } = await put(new MinioBucket(PLACE), new Date(), 'partNumber=2&uploadId=a%2Fb');
  t.is(fault, undefined);
  t.is(
    sent.path,
    `/deposits/service/v1/sha256/${DIGESTS.sha256.slice(0, 2)}/${DIGESTS.sha256.slice(2, 4)}/${DIGESTS.sha256}?partNumber=2&uploadId=a%2Fb`,
  );
});

test('the bucket is part of the host at Amazon, else part of the path', async (t) => {
  const endpoint = { host: 's3.amazonaws.com', port: 443, tls: true };
  const { fault, sent, headers } = await put(new MinioBucket({ ...PLACE, endpoint }), new Date());
  t.is(fault, undefined);
  t.is(sent.host, 'deposits.s3.eu-west-1.amazonaws.com');
  t.is(headers['host'], 'deposits.s3.eu-west-1.amazonaws.com');
  t.true(sent.path?.startsWith('/service/v1/sha256/'));
  t.is((await put(new MinioBucket(PLACE), new Date())).headers['host'], 'store.example:9000');
});
