import { contentMd5, md5Of, newBytes, rule, rulesServer, textOf } from './server.ts';

/** Rules about objects: what is answered to PUT, GET, HEAD and DELETE. */
export function objectRules(): void {
  rule('both', 'a refusal after the body was read is an answer', async (t) => {
    const { put } = await rulesServer(t);
    const body = newBytes(300_000);
    const wrong = { 'content-md5': contentMd5('others') };
    for (let time = 0; time < 3; time += 1) t.is((await put('key', body, wrong)).code, 'BadDigest');
    t.is((await put('key', body, { 'content-md5': 'short' })).code, 'InvalidDigest');
    const { status, code } = await put('key', body, { 'x-amz-content-sha256': '0'.repeat(64) });
    t.deepEqual([status, code], [400, 'XAmzContentSHA256Mismatch']);
  });

  rule('both', 'of two wrong digests the MD5 is refused', async (t) => {
    const { put } = await rulesServer(t);
    const wrong = { 'content-md5': contentMd5('others'), 'x-amz-content-sha256': '0'.repeat(64) };
    t.is((await put('key', 'bytes', wrong)).code, 'BadDigest');
  });

  rule('both', 'a HEAD that is refused has no body, and its code in X-Minio-Error-Code', async (t) => {
    const { send, client } = await rulesServer(t);
    for (const [answer, status, code] of [
      [await send('missing', { method: 'HEAD' }), 404, 'NoSuchKey'],
      [await client.send('no-such-bucket-here/key', { method: 'HEAD' }), 404, 'NoSuchBucket'],
    ] as const) {
      t.deepEqual([answer.status, answer.headers['x-minio-error-code']], [status, code]);
      t.deepEqual([answer.headers['content-length'] ?? '0', answer.body.length], ['0', 0]);
      t.truthy(answer.headers['x-minio-error-desc']);
    }
  });

  rule('both', 'a HEAD of a client whose clock differs is 403 without header and body', async (t) => {
    const { send } = await rulesServer(t);
    const { status, headers, body } = await send('key', { method: 'HEAD', fast: 3_600_000 });
    t.deepEqual([status, headers['x-minio-error-code'], body.length], [403, undefined, 0]);
  });

  rule('both', 'a PUT is answered with the MD5 in quotes as ETag, and neither type nor body', async (t) => {
    const { put } = await rulesServer(t);
    const { status, headers, body } = await put('key', 'bytes');
    t.deepEqual(
      [status, headers.etag, headers['content-length'], body.length],
      [200, `"${md5Of('bytes')}"`, '0', 0],
    );
    t.is(headers['content-type'], undefined);
  });

  rule(
    'both',
    'a DELETE is 204 without length, also of a missing key; of a missing bucket it is 404',
    async (t) => {
      const { put, send, client } = await rulesServer(t);
      await put('key');
      for (const key of ['key', 'key', 'missing']) {
        const { status, headers } = await send(key, { method: 'DELETE' });
        t.deepEqual([status, headers['content-length']], [204, undefined]);
      }
      const { status, code } = await client.send('no-such-bucket-here/key', { method: 'DELETE' });
      t.deepEqual([status, code], [404, 'NoSuchBucket']);
    },
  );

  rule('both', 'a PUT obeys If-None-Match and If-Match', async (t) => {
    const { put } = await rulesServer(t);
    t.is((await put('key', 'bytes', { 'if-none-match': '*' })).status, 200);
    const again = await put('key', 'bytes', { 'if-none-match': '*' });
    t.deepEqual([again.status, again.code], [412, 'PreconditionFailed']);
    t.is((await put('key', 'others', { 'if-match': `"${'0'.repeat(32)}"` })).status, 412);
    t.is((await put('key', 'others', { 'if-match': `"${md5Of('bytes')}"` })).status, 200);
  });

  rule('both', 'a DELETE ignores If-Match', async (t) => {
    const { put, send } = await rulesServer(t);
    await put('key');
    const headers = { 'if-match': `"${'0'.repeat(32)}"` };
    t.is((await send('key', { method: 'DELETE', headers })).status, 204);
    t.is((await send('key')).code, 'NoSuchKey');
  });

  rule('both', 'a range is answered with 206 and its Content-Range', async (t) => {
    const { put, send } = await rulesServer(t);
    await put('key', 'abcdefghij');
    const middle = await send('key', { headers: { range: 'bytes=2-4' } });
    t.deepEqual(
      [middle.status, middle.headers['content-range'], textOf(middle)],
      [206, 'bytes 2-4/10', 'cde'],
    );
    t.is(textOf(await send('key', { headers: { range: 'bytes=7-' } })), 'hij');
    t.is((await send('key', { headers: { range: 'bytes=10-' } })).code, 'InvalidRange');
  });

  rule('both', 'a segment of a key has at most 255 bytes', async (t) => {
    const { put } = await rulesServer(t);
    t.is((await put(`a/${'b'.repeat(255)}`)).status, 200);
    const { status, code } = await put(`a/${'b'.repeat(256)}`);
    t.deepEqual([status, code], [400, 'XMinioInvalidObjectName']);
  });

  rule('both', "objects below an object's key are possible", async (t) => {
    const { put, send } = await rulesServer(t);
    t.is((await put('a/b')).status, 200);
    t.is((await put('a/b/c', 'below')).status, 200);
    t.deepEqual([textOf(await send('a/b')), textOf(await send('a/b/c'))], ['bytes', 'below']);
  });
}
