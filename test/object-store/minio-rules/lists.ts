import { rule, rulesServer, rulesTestServer, textsOf } from './server.ts';

/** Rules about lists of objects, and about what they say of objects that are not found. */
export function listRules(): void {
  rule('both', 'a list is sorted by bytes, and says what it is of', async (t) => {
    const { put, send, bucket } = await rulesServer(t);
    const keys = ['a/B', 'a/a', 'a/Z', 'a/é', 'b'];
    for (const key of keys) await put(key);
    const answer = await send('', { query: 'list-type=2&prefix=a%2F&max-keys=3' });
    t.deepEqual(textsOf(answer, 'Key'), ['a/B', 'a/Z', 'a/a']);
    const texts = ['Name', 'MaxKeys', 'KeyCount', 'IsTruncated'].flatMap((name) => textsOf(answer, name));
    t.deepEqual([...texts, textsOf(answer, 'Prefix')[0]], [bucket, '3', '3', 'true', 'a/']);
    t.regex(textsOf(answer, 'LastModified')[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const token = encodeURIComponent(textsOf(answer, 'NextContinuationToken')[0] ?? '');
    const next = await send('', { query: `continuation-token=${token}&list-type=2&prefix=a%2F` });
    t.deepEqual([textsOf(next, 'Key'), textsOf(next, 'IsTruncated')], [['a/é'], ['false']]);
  });

  rule('both', 'an empty token is refused, an unknown one is refused or ends the list', async (t) => {
    const { put, send } = await rulesServer(t);
    await put('key');
    const empty = await send('', { query: 'continuation-token=&list-type=2&prefix=' });
    t.deepEqual([empty.status, empty.code], [400, 'InvalidArgument']);
    const unknown = await send('', { query: 'continuation-token=unknown&list-type=2&prefix=' });
    t.true(unknown.code === 'InvalidArgument' || textsOf(unknown, 'Key').length === 0);
  });

  rule('both', 'a list of at most 0 keys is not truncated', async (t) => {
    const { put, send } = await rulesServer(t);
    await put('key');
    const answer = await send('', { query: 'list-type=2&max-keys=0&prefix=' });
    t.deepEqual([textsOf(answer, 'Key'), textsOf(answer, 'IsTruncated')], [[], ['false']]);
  });

  rule('test server', 'an object can be 404 to HEAD and GET although the list names it', async (t) => {
    const { rules, there } = await rulesTestServer(t);
    await rules.put('key');
    there.unfound.add('key');
    t.is((await rules.send('key', { method: 'HEAD' })).headers['x-minio-error-code'], 'NoSuchKey');
    t.is((await rules.send('key')).code, 'NoSuchKey');
    t.deepEqual(textsOf(await rules.send('', { query: 'list-type=2&prefix=' }), 'Key'), ['key']);
  });

  rule('test server', 'with too few drives a list is short with 200, while HEAD says 503', async (t) => {
    const { rules, server, there } = await rulesTestServer(t);
    for (const key of ['first', 'second']) await rules.put(key);
    server.state = 'few-drives-to-read';
    there.unlisted.add('second');
    const list = await rules.send('', { query: 'list-type=2&prefix=' });
    t.deepEqual([list.status, textsOf(list, 'Key')], [200, ['first']]);
    t.deepEqual(textsOf(list, 'IsTruncated'), ['false']);
    const { status, headers } = await rules.send('second', { method: 'HEAD' });
    t.deepEqual([status, headers['x-minio-error-code']], [503, 'SlowDownRead']);
  });
}
