import {
  beginUpload,
  complete,
  MIB,
  md5Of,
  newBytes,
  putPart,
  type RulesServer,
  rule,
  rulesServer,
  textOf,
  textsOf,
} from './server.ts';

/** Rules about copies by the server. */
export function copyRules(): void {
  rule('both', 'a copy of an object of parts has the MD5 of all bytes as ETag', async (t) => {
    const rules = await rulesServer(t);
    const [large, small] = [newBytes(5 * MIB), newBytes(9)];
    const id = await beginUpload(rules, 'parts');
    await putPart(rules, 'parts', id, { number: 1, body: large });
    await putPart(rules, 'parts', id, { number: 2, body: small });
    const parts = [large, small].map((body, index) => ({ number: index + 1, etag: md5Of(body) }));
    await complete(rules, 'parts', id, parts);
    const answer = await copy(rules, 'parts', 'copy');
    const etag = md5Of(Buffer.concat([large, small]));
    t.deepEqual(textsOf(answer, 'ETag'), [`&#34;${etag}&#34;`]);
    t.is((await rules.send('copy', { method: 'HEAD' })).headers.etag, `"${etag}"`);
    t.regex(
      answer.body.toString(),
      /<CopyObjectResult[^>]*><LastModified>[^<]*\.\d{3}Z<\/LastModified><ETag>/,
    );
    t.is(answer.headers.etag, `"${etag}"`);
  });

  rule('both', 'a copy onto itself that changes nothing is refused', async (t) => {
    const rules = await rulesServer(t);
    await rules.put('key');
    const { status, code } = await copy(rules, 'key', 'key');
    t.deepEqual([status, code], [400, 'InvalidRequest']);
  });

  rule('both', 'a copy of a missing key or bucket is 404', async (t) => {
    const rules = await rulesServer(t);
    const missing = await copy(rules, 'missing', 'copy');
    t.deepEqual([missing.status, missing.code], [404, 'NoSuchKey']);
    const headers = { 'x-amz-copy-source': '/no-such-bucket-here/key' };
    t.is((await rules.send('copy', { method: 'PUT', headers })).code, 'NoSuchBucket');
  });

  rule('both', 'a copy ignores If-None-Match', async (t) => {
    const rules = await rulesServer(t);
    await rules.put('key');
    await rules.put('copy', 'others');
    t.is((await copy(rules, 'key', 'copy', { 'if-none-match': '*' })).status, 200);
    t.is(textOf(await rules.send('copy')), 'bytes');
  });
}

function copy(rules: RulesServer, from: string, to: string, headers: Readonly<Record<string, string>> = {}) {
  const source = { 'x-amz-copy-source': `/${rules.bucket}/${from}` };
  return rules.send(to, { method: 'PUT', headers: { ...source, ...headers } });
}
