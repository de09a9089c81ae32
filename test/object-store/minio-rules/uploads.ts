import {
  beginUpload,
  complete,
  MIB,
  md5Of,
  newBytes,
  putPart,
  rule,
  rulesServer,
  rulesTestServer,
  textsOf,
  uploadQuery,
} from './server.ts';

/** Rules about uploads in parts. */
export function uploadRules(): void {
  rule('both', 'an upload that is aborted again, or unknown, is 204', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'key');
    const abort = () => rules.send('key', { method: 'DELETE', query: uploadQuery(id) });
    t.deepEqual([(await abort()).status, (await abort()).status], [204, 204]);
    const unknown = await beginUpload(rules, 'other');
    const query = uploadQuery(unknown);
    t.is((await rules.send('key', { method: 'DELETE', query })).status, 204, 'of another key');
  });

  rule('both', 'an upload that is completed again is 404 NoSuchUpload; to abort it is 204', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'key');
    await putPart(rules, 'key', id, { number: 1 });
    const parts = [{ number: 1, etag: md5Of('part') }];
    t.is((await complete(rules, 'key', id, parts)).status, 200);
    const again = await complete(rules, 'key', id, parts);
    t.deepEqual([again.status, again.code], [404, 'NoSuchUpload']);
    t.is((await rules.send('key', { method: 'DELETE', query: uploadQuery(id) })).status, 204);
    const { headers } = await rules.send('key', { method: 'HEAD' });
    t.regex(headers.etag ?? '', /^"[0-9a-f]{32}-1"$/, 'HEAD shows that it was completed');
  });

  rule(
    'both',
    'a completion without parts is InvalidRequest, one that is no XML is MalformedXML',
    async (t) => {
      const rules = await rulesServer(t);
      const id = await beginUpload(rules, 'key');
      await putPart(rules, 'key', id, { number: 1 });
      t.is((await complete(rules, 'key', id, [])).code, 'InvalidRequest');
      t.is((await complete(rules, 'key', id, 'no XML')).code, 'MalformedXML');
      const unknown = await beginUpload(rules, 'other');
      t.is(
        (await complete(rules, 'key', unknown, [{ number: 1, etag: md5Of('part') }])).code,
        'NoSuchUpload',
      );
    },
  );

  rule('both', 'parts must exist, be in order, and have 5 MiB except the last', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'key');
    const [large, small] = [newBytes(5 * MIB), newBytes(9)];
    await putPart(rules, 'key', id, { number: 1, body: large });
    await putPart(rules, 'key', id, { number: 2, body: small });
    await putPart(rules, 'key', id, { number: 3, body: small });
    const [first, second] = [
      { number: 1, etag: md5Of(large) },
      { number: 2, etag: md5Of(small) },
    ];
    const third = { number: 3, etag: md5Of(small) };
    t.is((await complete(rules, 'key', id, [{ number: 9, etag: md5Of(small) }])).code, 'InvalidPart');
    t.is((await complete(rules, 'key', id, [{ number: 1, etag: md5Of(small) }])).code, 'InvalidPart');
    t.is((await complete(rules, 'key', id, [second, first])).code, 'InvalidPartOrder');
    t.is((await complete(rules, 'key', id, [first, second, third])).code, 'EntityTooSmall');
    t.is((await complete(rules, 'key', id, [first, { ...second, etag: `"${second.etag}"` }])).status, 200);
  });

  rule('both', 'a completion is answered with place, bucket, key and ETag', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'a/key');
    await putPart(rules, 'a/key', id, { number: 1 });
    const answer = await complete(rules, 'a/key', id, [{ number: 1, etag: md5Of('part') }]);
    const etag = `${md5Of(Buffer.from(md5Of('part'), 'hex'))}-1`;
    t.is(answer.headers.etag, `"${etag}"`);
    t.deepEqual(textsOf(answer, 'ETag'), [`&#34;${etag}&#34;`]);
    t.deepEqual([textsOf(answer, 'Bucket'), textsOf(answer, 'Key')], [[rules.bucket], ['a/key']]);
    t.regex(textsOf(answer, 'Location')[0] ?? '', new RegExp(`^http.*/${rules.bucket}/a/key$`));
    t.true(answer.body.toString().startsWith('<?xml'), 'no white space before');
  });

  rule('both', 'parts are numbered from 1 to 10,000, and need their upload', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'key');
    const answered = async (key: string, number: number) => {
      const { status, code } = await putPart(rules, key, id, { number });
      return [status, code];
    };
    t.deepEqual(await answered('key', 0), [400, 'InvalidPart']);
    t.deepEqual(await answered('key', 10_001), [400, 'InvalidArgument']);
    t.deepEqual(await answered('other', 1), [404, 'NoSuchUpload']);
    t.deepEqual(await answered('key', 10_000), [200, undefined]);
  });

  rule('both', 'an upload is no object until it is completed', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'key');
    await putPart(rules, 'key', id, { number: 1 });
    t.is((await rules.send('key', { method: 'HEAD' })).status, 404);
    await complete(rules, 'key', id, [{ number: 1, etag: md5Of('part') }]);
    t.is((await rules.send('key', { method: 'HEAD' })).status, 200);
  });

  rule('both', 'uploads are listed by their whole key only, in the order in which they began', async (t) => {
    const rules = await rulesServer(t);
    const ids = [];
    for (let upload = 0; upload < 3; upload += 1) ids.push(await beginUpload(rules, 'folder/key'));
    const list = async (prefix: string, delimiter = '') => {
      const query = `uploads=&prefix=${encodeURIComponent(prefix)}&delimiter=${encodeURIComponent(delimiter)}`;
      return textsOf(await rules.send('', { query }), 'UploadId');
    };
    t.deepEqual(await list('folder/key'), ids);
    t.deepEqual(await list('folder/key', '/'), ids, 'a delimiter changes nothing');
    t.deepEqual([await list('folder/'), await list('folder/ke')], [[], []]);
    t.true(
      ids.every((id) => /^[\w-]{100,140}={0,2}$/.test(id)),
      ids[0],
    );
  });

  rule('both', 'without a key the server lists only uploads that began in its process', async (t) => {
    const rules = await rulesServer(t);
    const id = await beginUpload(rules, 'folder/key');
    t.deepEqual(textsOf(await rules.send('', { query: 'uploads=&prefix=' }), 'UploadId'), [id]);
  });

  rule('test server', 'an upload can be missing from one list and be in the next', async (t) => {
    const { rules, there } = await rulesTestServer(t);
    const id = await beginUpload(rules, 'key');
    there.emptyUploadLists = 2;
    const list = async () => textsOf(await rules.send('', { query: 'uploads=&prefix=key' }), 'UploadId');
    t.deepEqual([await list(), await list(), await list()], [[], [], [id]]);
  });

  rule(
    'test server',
    'an upload that is older than a day is dropped: its next part is NoSuchUpload',
    async (t) => {
      const { rules, there } = await rulesTestServer(t);
      const id = await beginUpload(rules, 'key');
      there.uploads.clear();
      t.is((await putPart(rules, 'key', id, { number: 1 })).code, 'NoSuchUpload');
    },
  );
}
