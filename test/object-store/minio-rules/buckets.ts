import { rule, rulesServer, rulesTestServer, textOf } from './server.ts';

const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

/** Rules about buckets, versions and keys. */
export function bucketRules(): void {
  rule('both', 'an existing bucket cannot be created again, nor one with an invalid name', async (t) => {
    const { client, bucket } = await rulesServer(t);
    const again = await client.send(bucket, { method: 'PUT' });
    t.deepEqual([again.status, again.code], [409, 'BucketAlreadyOwnedByYou']);
    t.is((await client.send('Bad_Name', { method: 'PUT' })).code, 'InvalidBucketName');
  });

  rule('both', 'without a region of its own a server takes every LocationConstraint', async (t) => {
    const { client, bucket } = await rulesServer(t);
    const body =
      '<CreateBucketConfiguration><LocationConstraint>mars</LocationConstraint></CreateBucketConfiguration>';
    t.is((await client.with({ region: 'mars' }).send(`${bucket}-2`, { method: 'PUT', body })).status, 200);
  });

  rule('test server', 'with a region of its own it refuses signatures for another', async (t) => {
    const { rules } = await rulesTestServer(t, { region: 'us-east-1' });
    t.is((await rules.send('', { query: 'list-type=2&prefix=' })).status, 200);
    const elsewhere = rules.client.with({ region: 'mars' });
    const { status, code } = await elsewhere.send(rules.bucket, { query: 'list-type=2&prefix=' });
    t.deepEqual([status, code], [400, 'AuthorizationHeaderMalformed']);
  });

  rule('test server', 'with a region of its own it names it to requests signed for another', async (t) => {
    const { rules } = await rulesTestServer(t, { region: 'eu-1' });
    const elsewhere = rules.client.with({ region: 'us-east-1' });
    const { status, body } = await elsewhere.send(rules.bucket, { query: 'location=' });
    t.is(status, 200);
    t.regex(body.toString(), />eu-1<\/LocationConstraint>/);
  });

  rule('both', 'an empty server, and one whose bucket was deleted, say NoSuchBucket', async (t) => {
    const { client } = await rulesServer(t);
    const list = await client.send('no-such-bucket-here', { query: 'list-type=2&prefix=' });
    t.deepEqual([list.status, list.code], [404, 'NoSuchBucket']);
  });

  rule('both', 'wrong keys, no signature and a wrong clock are 403, each with its code', async (t) => {
    const { client, bucket } = await rulesServer(t);
    const codes = [
      await client.with({ accessKey: 'ANOTHERKEY' }).send(bucket, { query: 'list-type=2&prefix=' }),
      await client.with({ secretKey: 'another-secret' }).send(bucket, { query: 'list-type=2&prefix=' }),
      await client.send(bucket, { query: 'list-type=2&prefix=', unsigned: true }),
      await client.send(bucket, { query: 'list-type=2&prefix=', fast: 16 * 60_000 }),
      await client.send(bucket, { query: 'list-type=2&prefix=', fast: -16 * 60_000 }),
    ].map(({ status, code }) => `${status} ${code}`);
    const skewed = '403 RequestTimeTooSkewed';
    t.deepEqual(codes, [
      '403 InvalidAccessKeyId',
      '403 SignatureDoesNotMatch',
      '403 AccessDenied',
      skewed,
      skewed,
    ]);
  });

  rule(
    'test server',
    'without the right to list, a missing key is 404 and a missing bucket 403',
    async (t) => {
      const { rules } = await rulesTestServer(t, { listable: 'shared/' });
      t.is((await rules.send('shared/missing', { method: 'HEAD' })).status, 404);
      t.is((await rules.send('elsewhere/missing')).code, 'NoSuchKey');
      t.is((await rules.send('', { query: 'list-type=2&prefix=elsewhere' })).code, 'AccessDenied');
      t.is((await rules.client.send('no-such-bucket-here/key')).code, 'AccessDenied');
    },
  );

  rule(
    'both',
    'with versions PUT, HEAD and DELETE name them, and a DELETE of one removes that one',
    async (t) => {
      const { put, send } = await rulesServer(t);
      t.is((await send('', { method: 'PUT', query: 'versioning=', body: VERSIONING })).status, 200);
      const version = async (body: string) => String((await put('key', body)).headers['x-amz-version-id']);
      const [first, second] = [await version('first'), await version('second')];
      t.not(first, second);
      t.is((await send('key', { method: 'HEAD' })).headers['x-amz-version-id'], second);
      const removed = await send('key', { method: 'DELETE', query: `versionId=${second}` });
      t.deepEqual([removed.status, removed.headers['x-amz-version-id']], [204, second]);
      t.is(textOf(await send('key')), 'first');
    },
  );

  rule('both', 'with versions a DELETE of a key leaves a delete marker', async (t) => {
    const { put, send } = await rulesServer(t);
    await send('', { method: 'PUT', query: 'versioning=', body: VERSIONING });
    const stored = (await put('key')).headers['x-amz-version-id'];
    const { headers } = await send('key', { method: 'DELETE' });
    t.is(headers['x-amz-delete-marker'], 'true');
    const found = await send('key', { method: 'HEAD' });
    t.deepEqual([found.status, found.headers['x-amz-delete-marker']], [404, 'true']);
    t.is(textOf(await send('key', { query: `versionId=${String(stored)}` })), 'bytes');
    await send('key', { method: 'DELETE', query: `versionId=${String(headers['x-amz-version-id'])}` });
    t.is(textOf(await send('key')), 'bytes', 'without the marker it is visible again');
  });
}
