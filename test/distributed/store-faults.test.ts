import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempDisposable, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { archiveHeaders, final, formType, helloForm, partial } from '../../testing/http/deposit-bodies.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { until } from '../../testing/processes/until.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { ALL_HELD, DistributedNodes } from '../../testing/service/distributed-nodes.ts';

const MIB = 1024 ** 2;

test('a store that fails during an upload causes 503 without event or object, and recovers', async (t) => {
  await using nodes = await DistributedNodes.start();
  await using proxy = await FaultProxy.start(nodes.s3.port);
  const node = await nodes.add(['http', 'reactors'], { s3Port: proxy.port, maxUploadSize: 40 * MIB });
  const alice = await nodes.register(node);
  const { objects, uploads } = nodes.s3.buckets.get('deposits') ?? nodes.s3.makeBucket('unused');
  const incoming = () => readdir(path.join(node.folder, 'incoming', 'incoming'));

  const archive = tarOf([{ name: 'large/noise.bin', data: randomBytes(36 * MIB) }]);
  const chunks = Array.from({ length: 36 }, (_, index) => archive.subarray(index * MIB, (index + 1) * MIB));
  const sent = async function* (): AsyncGenerator<Uint8Array> {
    yield* chunks.slice(0, 34);
    await until(async () => uploads.size === 1); // its first part, of 32 MiB, is being sent
    await proxy.refuse();
    yield* chunks.slice(34);
    yield archive.subarray(36 * MIB);
  };
  const headers = { ...archiveHeaders('large.tar', 'application/x-tar'), ...partial };
  const body = ReadableStream.from(sent());
  const refused = await alice.send('POST', '/1/software/', { body, headers, duplex: 'half' });
  t.is(refused.status, 503);
  t.truthy(refused.headers.get('retry-after'));
  t.deepEqual(
    nodes.double.log.all.filter(({ stream }) => stream.startsWith('deposit-')),
    [],
  );
  t.deepEqual(
    [...objects.keys()].filter((key) => key.includes('sha256')),
    [],
  );
  await until(async () => (await incoming()).length === 0);
  const ready = await fetch(`${node.url}/health/ready`);
  t.is(ready.status, 503);
  t.regex(await ready.text(), /not ready: .*archive store: /);

  await proxy.accept();
  await until(async () => uploads.size === 0 && objects.size === 1); // removals that were not possible meanwhile
  t.deepEqual([...objects.keys()], ['store-id']);
  const depositor = nodes.depositorOver(alice, node);
  await depositor.deposit(0);
  t.deepEqual(await nodes.outcome(depositor, node), ALL_HELD);
  await until(async () => (await fetch(`${node.url}/health/ready`)).ok);
});

test('a store that rejects the key causes 503 and an unready node until it accepts the key again', async (t) => {
  await using nodes = await DistributedNodes.start();
  await using proxy = await FaultProxy.start(nodes.s3.port);
  const node = await nodes.add(['http', 'reactors'], { s3Port: proxy.port });
  const depositor = nodes.depositorOver(await nodes.register(node), node);
  proxy.inject({ kind: 'status', status: 403, code: 'SignatureDoesNotMatch' });
  const depositing = depositor.deposit(0);
  await until(async () => depositor.unavailable > 1);
  await until(async () => {
    const ready = await fetch(`${node.url}/health/ready`);
    t.is(ready.status, 503);
    return /archive store: .* the secret key is wrong, or \(OpenStack Swift\) the access key/.test(
      await ready.text(),
    );
  }); // on a busy machine the store may not have answered in time
  proxy.heal();
  await depositing;
  t.deepEqual(await nodes.outcome(depositor, node), ALL_HELD);
});

test('a node stops soon while a put to its store hangs', async (t) => {
  await using nodes = await DistributedNodes.start();
  await using proxy = await FaultProxy.start(nodes.s3.port);
  const node = await nodes.add(['http', 'reactors'], { s3Port: proxy.port });
  const alice = await nodes.register(node);
  proxy.inject({ kind: 'slow', delay: 500 }, /^GET .*v1\//); // the checker is not done before
  t.is((await alice.post('/1/software/', helloForm, { ...formType, ...final })).status, 201);
  proxy.inject({ kind: 'silent' }, /^PUT/);
  const before = proxy.requests.length;
  await until(async () => proxy.requests.slice(before).some((request) => /^PUT .*v1\//.test(request)));
  const begun = Date.now();
  await node.stop();
  t.true(Date.now() - begun < 15_000, 'the store may be silent for 30 seconds');
});

test('a start removes old leftovers of killed processes from folder and bucket, and no recent ones', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http', 'reactors']);
  const incoming = path.join(node.folder, 'incoming', 'incoming');
  await node.stop();
  for (const name of ['left', 'young']) await writeFile(path.join(incoming, name), 'bytes');
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(path.join(incoming, 'left'), before, before);
  const bucket = nodes.s3.buckets.get('deposits') ?? nodes.s3.makeBucket('unused');
  const body = { file: path.join(incoming, 'none'), length: 0, md5: '' };
  const modified = new Date(Date.now() - 25 * 3_600_000);
  const key = `incoming/${randomUUID()}`;
  bucket.beginUpload(key);
  bucket.objects.set(key, { body, etag: '0', modified });
  await node.startAgain();
  t.deepEqual(await readdir(incoming), ['young']);
  await until(async () => !bucket.objects.has(key) && bucket.uploads.size === 0);
});

test('a start with a store that does not respond fails within ten seconds', async (t) => {
  await using s3 = await S3Server.start();
  await using proxy = await FaultProxy.start(s3.port);
  proxy.inject({ kind: 'silent' });
  const { accessKey, secretKey } = s3.options;
  const at = `127.0.0.1:${proxy.port}`;
  const outputs = await starting({ at, accessKey, secretKey });
  t.regex(outputs, /cannot use the bucket deposits at \S+: it did not answer within 10000 ms\.\n$/);
});

test('a service whose store is unusable does not start: it prints the reason and exits with 1', async (t) => {
  await using s3 = await S3Server.start();
  await using strict = await S3Server.start({ mayMakeBuckets: false });
  const { accessKey, secretKey } = s3.options;
  const [at, strictly] = [`127.0.0.1:${s3.port}`, `127.0.0.1:${strict.port}`];
  const outputs = await Promise.all([
    starting({ at, accessKey, secretKey: 'another' }),
    starting({ at, accessKey: 'ANOTHER', secretKey }),
    starting({ at: strictly, accessKey, secretKey }),
    starting({ at: '127.0.0.1:1', accessKey, secretKey }),
  ]);
  const cannot = 'The service ended with 1: The archive store cannot';
  t.deepEqual(outputs, [
    `${cannot} use the bucket deposits at ${at}: the secret key is wrong, or (OpenStack Swift) the access key (SignatureDoesNotMatch).\n`,
    `${cannot} use the bucket deposits at ${at}: it does not know the access key (InvalidAccessKeyId).\n`,
    `${cannot} create the bucket deposits, which does not exist: it denies access: the keys lack a right, or (MinIO) its drive is read-only (AccessDenied).\n`,
    `${cannot} use the bucket deposits at 127.0.0.1:1: ECONNREFUSED.\n`,
  ]);
});

/** Resolves to the output of a service that does not start on this store. */
async function starting({ at, accessKey, secretKey }: Record<'at' | 'accessKey' | 'secretKey', string>) {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'deposit-refused-'));
  try {
    await using service = await ServiceProcess.start(folder.path, await freePort(), {
      DEPOSIT_ARCHIVE_STORE: `s3://${at}/deposits?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: accessKey,
      DEPOSIT_S3_SECRET_KEY: secretKey,
    });
    return `It runs at ${service.url}.`;
  } catch (error) {
    return (error as Error).message.replaceAll(/\{.*\}\n/g, ''); // lines of the log are for programs
  }
}
