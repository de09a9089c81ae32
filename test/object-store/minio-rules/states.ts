import path from 'node:path';
import { flipOnDrive } from '../../../testing/s3/flip-on-drive.ts';
import type { S3Answer } from '../../../testing/s3/s3-client.ts';
import type { S3State } from '../../../testing/s3/s3-state.ts';
import { SERVER_DRIVE } from '../s3-under-test.ts';
import { MIB, newBytes, type RulesServer, rule, rulesServer, rulesTestServer, textsOf } from './server.ts';

/** Rules about servers that cannot do their work, and about damaged drives. */
export function stateRules(): void {
  rule('drive', 'a corrupt object of up to 200 kB is 503 SlowDownRead to GET, and 200 to HEAD', async (t) => {
    const { rules, flip } = await damageable(t);
    const body = newBytes(200_000);
    await rules.put('key', body);
    await flip('key');
    t.is((await rules.send('key', { method: 'HEAD' })).status, 200);
    const { status, code, headers } = await rules.send('key');
    t.deepEqual([status, code, headers['retry-after']], [503, 'SlowDownRead', '60']);
    await rules.put('key', body);
    t.deepEqual((await rules.send('key')).body, body, 'storing the same bytes again repairs it');
  });

  rule('drive', 'a larger one begins with 200 and breaks the connection', async (t) => {
    const { rules, flip } = await damageable(t);
    const body = newBytes(9 * MIB);
    await rules.put('key', body);
    await flip('key');
    t.is((await rules.send('key', { method: 'HEAD' })).status, 200);
    const { status, isCut, body: came } = await rules.send('key');
    t.deepEqual([status, isCut], [200, true]);
    t.true(came.length < body.length && came.equals(body.subarray(0, came.length)), 'no wrong byte');
  });

  rule(
    'test server',
    'a server that starts is XMinioServerNotInitialized to some requests, never 404',
    async (t) => {
      t.deepEqual(await answersIn(t, 'starting'), {
        HEAD: '200',
        GET: '200',
        list: '503 XMinioServerNotInitialized',
        PUT: '503 XMinioServerNotInitialized',
        DELETE: '503 XMinioServerNotInitialized',
      });
    },
  );

  rule('test server', 'a server that stops is 499 ClientDisconnected', async (t) => {
    const all = '499 ClientDisconnected';
    t.deepEqual(await answersIn(t, 'stopping'), { HEAD: all, GET: all, list: all, PUT: all, DELETE: all });
  });

  rule('test server', 'a server that is busy is 429, to be tried after 60 s, and closes', async (t) => {
    const { rules, server } = await rulesTestServer(t);
    server.state = 'busy';
    const { status, code, headers } = await rules.send('key');
    t.deepEqual([status, code], [429, 'TooManyRequests']);
    t.deepEqual([headers['retry-after'], headers.connection], ['60', 'close']);
  });

  rule('test server', 'a full server refuses writes with 507, a quota with 400', async (t) => {
    const works = { HEAD: '200', GET: '200', list: '200', DELETE: '204' };
    t.deepEqual(await answersIn(t, 'full'), { ...works, PUT: '507 XMinioStorageFull' });
    t.deepEqual(await answersIn(t, 'over-quota'), { ...works, PUT: '400 XMinioAdminBucketQuotaExceeded' });
  });

  rule(
    'test server',
    'a read-only drive refuses PUT with 403 AccessDenied and DELETE with 500',
    async (t) => {
      const expected = { HEAD: '200', GET: '200', list: '200', PUT: '403 AccessDenied' };
      t.deepEqual(await answersIn(t, 'read-only'), { ...expected, DELETE: '500 InternalError' });
      const { rules, server } = await rulesTestServer(t);
      server.state = 'read-only';
      t.is((await rules.send('missing', { method: 'DELETE' })).status, 204);
    },
  );

  rule('test server', 'with two of four drives reads and DELETE work, PUT is SlowDownWrite', async (t) => {
    const expected = { HEAD: '200', GET: '200', list: '200', PUT: '503 SlowDownWrite', DELETE: '204' };
    t.deepEqual(await answersIn(t, 'few-drives-to-write'), expected);
  });

  rule('test server', 'with one of four drives only the list works', async (t) => {
    const [reads, writes] = ['503 SlowDownRead', '503 SlowDownWrite'];
    const expected = { HEAD: reads, GET: reads, list: '200', PUT: writes, DELETE: writes };
    t.deepEqual(await answersIn(t, 'few-drives-to-read'), expected);
  });

  rule('test server', 'without format.json the list is 500 InternalError, too', async (t) => {
    const [reads, writes] = ['503 SlowDownRead', '503 SlowDownWrite'];
    const expected = { HEAD: reads, GET: reads, list: '500 InternalError', PUT: writes, DELETE: writes };
    t.deepEqual(await answersIn(t, 'no-format'), expected);
  });

  rule('both', '/minio/health/ready and /minio/health/cluster are 200 without a signature', async (t) => {
    const { client } = await rulesServer(t);
    for (const kind of ['ready', 'cluster'])
      t.is((await client.send(`minio/health/${kind}`, { unsigned: true })).status, 200);
  });

  rule(
    'test server',
    '/minio/health/ready is 200 also while a server starts; /minio/health/cluster is 503',
    async (t) => {
      const { rules, server } = await rulesTestServer(t);
      server.state = 'starting';
      const health = async (kind: string) => (await rules.client.send(`minio/health/${kind}`)).status;
      t.deepEqual([await health('ready'), await health('cluster')], [200, 503]);
    },
  );

  rule('test server', 'a power cut loses the object that was acknowledged last', async (t) => {
    const { rules, there } = await rulesTestServer(t);
    for (const key of ['first', 'last']) await rules.put(key);
    t.is(there.cutPower(), 'last');
    t.is((await rules.send('last')).code, 'NoSuchKey');
    t.is((await rules.send('first')).status, 200);
    t.deepEqual(textsOf(await rules.send('', { query: 'list-type=2&prefix=' }), 'Key'), ['first']);
  });
}

/** Returns what a server in this state answers to requests about an object that is there. */
async function answersIn(t: Parameters<typeof rulesTestServer>[0], state: S3State) {
  const { rules, server } = await rulesTestServer(t);
  await rules.put('key');
  server.state = state;
  const outcomeOf = ({ status, code, headers }: S3Answer) =>
    [status, code ?? headers['x-minio-error-code']].filter((part) => part !== undefined).join(' ');
  return {
    HEAD: outcomeOf(await rules.send('key', { method: 'HEAD' })),
    GET: outcomeOf(await rules.send('key')),
    list: outcomeOf(await rules.send('', { query: 'list-type=2&prefix=' })),
    PUT: outcomeOf(await rules.put('other')),
    DELETE: outcomeOf(await rules.send('key', { method: 'DELETE' })),
  };
}

type Damageable = { readonly rules: RulesServer; readonly flip: (key: string) => Promise<void> };

/** Returns a server on whose drive a bit of an object can be flipped. */
async function damageable(t: Parameters<typeof rulesTestServer>[0]): Promise<Damageable> {
  if (SERVER_DRIVE === undefined) {
    const { rules, there } = await rulesTestServer(t);
    return { rules, flip: async (key) => void there.flipped.add(key) };
  }
  const rules = await rulesServer(t);
  return { rules, flip: (key) => flipOnDrive(path.join(SERVER_DRIVE ?? '', rules.bucket, key)) };
}
