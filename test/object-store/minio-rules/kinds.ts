import { beginUpload, rule, rulesTestServer, textsOf, uploadQuery } from './server.ts';

/** Declares tests of other stores' answers that differ from MinIO's: options of the test server. */
export function kindRules(): void {
  rule(
    'test server',
    'as AWS: without the right to list a missing key is 403, and HEAD says no code',
    async (t) => {
      const { rules } = await rulesTestServer(t, { kind: 'aws', listable: 'shared/' });
      const { status, headers } = await rules.send('shared/missing', { method: 'HEAD' });
      t.deepEqual([status, headers['x-minio-error-code']], [403, undefined]);
      const id = await beginUpload(rules, 'key');
      const abort = () => rules.send('key', { method: 'DELETE', query: uploadQuery(id) });
      t.is((await abort()).status, 204);
      t.is((await abort()).code, 'NoSuchUpload', 'an upload that is aborted again is 404');
    },
  );

  rule(
    'test server',
    'as Swift: empty answers are text/html, an empty delimiter lists no upload',
    async (t) => {
      const { rules } = await rulesTestServer(t, { kind: 'swift' });
      t.is((await rules.put('key')).headers['content-type'], 'text/html; charset=UTF-8');
      const id = await beginUpload(rules, 'key');
      const list = async (delimiter: string) =>
        textsOf(await rules.send('', { query: `delimiter=${delimiter}&prefix=key&uploads=` }), 'UploadId');
      t.deepEqual([await list(''), await list('%2F')], [[], [id]]);
      const headers = { 'x-amz-copy-source': `/${rules.bucket}/key` };
      t.is(
        (await rules.send('key', { method: 'PUT', headers })).status,
        200,
        'a copy onto itself is accepted',
      );
    },
  );
}
