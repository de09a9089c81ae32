import test from 'ava';
import { helloTar, md5Of, partial } from '../../testing/http/deposit-bodies.ts';
import { ALL_HELD, DistributedNodes } from '../../testing/service/distributed-nodes.ts';

test('two HTTP nodes and two worker nodes share the work: each deposit is loaded once and visible on both', async (t) => {
  await using nodes = await DistributedNodes.start();
  const one = await nodes.add(['http']);
  const other = await nodes.add(['http']);
  await nodes.add(['reactors']);
  await nodes.add(['reactors']);
  const alice = await nodes.register(one, other);
  const depositor = nodes.depositorOver(alice, one, other);
  const turns = Array.from({ length: 40 }, (_, turn) => turn).values();
  const write = async (): Promise<void> => {
    for (const turn of turns) await depositor.deposit(turn);
  };
  await Promise.all([write(), write(), write(), write(), write(), write()]);
  t.is(depositor.acknowledged.size, 40);
  t.deepEqual(await nodes.outcome(depositor, one, other), ALL_HELD);
  t.is(depositor.unavailable, 0);
  t.is(nodes.double.groups.get('reactors')?.consumers, 2);
});

test('a request with a key that names an upload is answered like the first time by a node without the upload', async (t) => {
  await using nodes = await DistributedNodes.start();
  const baseUrl = 'https://deposit.example';
  const [one, other] = [await nodes.add(['http'], { baseUrl }), await nodes.add(['http'], { baseUrl })];
  const alice = await nodes.register(one, other);
  const tus = { 'Tus-Resumable': '1.0.0' };
  const begun = {
    ...tus,
    'Upload-Length': String(helloTar.length),
    'Content-Type': 'application/offset+octet-stream',
  };
  const upload = await alice.post('/1/software/uploads/', helloTar, begun);
  const headers = {
    ...partial,
    Upload: upload.headers.get('location') ?? '',
    'Content-Type': 'application/x-tar',
    'Content-Disposition': 'attachment; filename=hello.tar',
    'Content-MD5': md5Of(helloTar),
    'Idempotency-Key': 'upload',
  };
  const ask = (url: string, more = {}) => alice.post(`${url}/1/software/`, null, { ...headers, ...more });
  t.is((await ask(other.url)).status, 404, 'nothing was executed yet');
  const first = await ask(one.url);
  t.is(first.status, 201);
  const again = await ask(other.url);
  t.deepEqual([again.status, again.headers.get('location')], [201, first.headers.get('location')]);
  t.is(await again.text(), await first.text());
  for (const { url } of [one, other])
    t.is((await ask(url, { 'Content-MD5': '0'.repeat(32) })).status, 412, 'another archive');
  t.is((await ask(other.url, { Slug: 'other' })).status, 409, 'another request');
  const renamed = { 'Content-Disposition': 'attachment; filename=other.tar' };
  t.is((await ask(other.url, renamed)).status, 409, 'another name');
  const dryRun = await alice.post(`${other.url}/1/software/?dry-run=true`, null, headers);
  t.is(dryRun.status, 404, 'its bytes are not there to be looked into');
  t.is((await ask(other.url, { 'Idempotency-Key': 'more' })).status, 404, 'not repeated');
  const edit = (first.headers.get('location') ?? '').replace(baseUrl, '');
  const added = { ...headers, 'Idempotency-Key': 'added' };
  const second = await alice.post('/1/software/uploads/', helloTar, begun);
  const add = (url: string) =>
    alice.post(url + edit.replace('metadata', 'media'), null, {
      ...added,
      Upload: second.headers.get('location') ?? '',
    });
  t.deepEqual([(await add(one.url)).status, (await add(other.url)).status], [201, 201]);
  const deposit = (await (await alice.get(edit, { Accept: 'application/json' })).json()) as {
    archives: unknown[];
  };
  t.is(deposit.archives.length, 2);
});
