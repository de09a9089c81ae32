import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import * as tus from 'tus-js-client';
import { drillClient, registerDrill } from '../../drills/service/drilled-service.ts';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { parseUploadMetadata } from '../../src/modules/resumable-uploads/http/tus-headers.ts';
import {
  ResumableUploads,
  type UploadLimits,
} from '../../src/modules/resumable-uploads/resumable-uploads.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { ATOM, child, DEPOSIT, parsedBody } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  entryHeaders,
  final,
  helloEntry,
  helloZip,
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { depositIdOf, pathOf } from '../../testing/http/made-deposits.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { checksumOf, metadataOf, pieceHeaders, TUS, TusUploads } from '../../testing/http/tus-uploads.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = { service: RunningService; alice: TestClient; bob: TestClient; uploads: TusUploads };
const test = anyTest as TestFn<Context>;

const MAX = 3 * 1024 ** 2;
const LIMITS: UploadLimits = { maxSize: MAX, perClient: 100, totalSize: 100 * MAX, expiry: 3_600_000 };

/** Too large for a single request, whose limit is 100 kB here. */
const largeTar = tarOf([{ name: 'large/noise', data: randomBytes(1024 ** 2) }]);

test.before(async (t) => {
  const service = await RunningService.start({
    maxUploadSize: 100_000,
    maxArchives: 1,
    uploadLimits: LIMITS,
  });
  const collections = ['software', 'other'];
  const [alice, bob] = [
    await service.register('alice', { collections }),
    await service.register('bob', { collections }),
  ];
  t.context = { service, alice, bob, uploads: new TusUploads(alice) };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

test('the capabilities are listed on OPTIONS and in the service document', async (t) => {
  const { alice, service } = t.context;
  const options = await alice.send('OPTIONS', '/1/software/uploads/');
  t.is(options.status, 204);
  t.like(Object.fromEntries(options.headers), {
    allow: 'POST, OPTIONS',
    'tus-resumable': '1.0.0',
    'tus-version': '1.0.0',
    'tus-extension': 'creation,creation-with-upload,checksum,expiration,termination',
    'tus-max-size': String(MAX),
    'tus-checksum-algorithm': 'sha1,sha256,md5',
  });
  const document = await (await alice.get('/1/servicedocument/')).text();
  t.true(document.includes(`<depositns:maxResumableUploadSize>${MAX}</depositns:maxResumableUploadSize>`));
  const iri = `${service.url}/1/software/uploads/`;
  t.true(document.includes(`<depositns:resumableUploads>${iri}</depositns:resumableUploads>`));
  const json = await alice.get('/1/servicedocument/', { Accept: 'application/json' });
  const facts = (await json.json()) as {
    workspace: { collections: { name: string; resumable_uploads: string }[] };
  };
  t.is(facts.workspace.collections.find(({ name }) => name === 'software')?.resumable_uploads, iri);
});

test('an upload arrives in chunks, each at the offset of the end of the last one', async (t) => {
  const { service, uploads } = t.context;
  const metadata = metadataOf({ filename: 'large.tar', note: '' });
  const created = await uploads.create(10, metadata);
  t.is(created.status, 201);
  t.is(await created.text(), '');
  const upload = created.headers.get('location') ?? '';
  t.true(upload.startsWith(`${service.url}/1/software/uploads/`));
  t.is(created.headers.get('upload-offset'), null);
  assertExpiry(t, created);
  const empty = await uploads.head(upload);
  t.is(empty.status, 200);
  t.is(empty.headers.get('upload-offset'), '0');
  t.is(empty.headers.get('upload-length'), '10');
  t.is(empty.headers.get('upload-metadata'), metadata['Upload-Metadata'] ?? '');
  t.is(empty.headers.get('cache-control'), 'no-store');
  const first = await uploads.patch(upload, 0, 'abcd');
  t.is(first.status, 204);
  t.is(first.headers.get('upload-offset'), '4');
  assertExpiry(t, first);
  await assertSwordError(t, await uploads.patch(upload, 0, 'abcd'), 409, 'Conflict');
  await assertSwordError(t, await uploads.patch(upload, 5, 'fghij'), 409, 'Conflict');
  const beyond = await uploads.patch(upload, 0, 'fghij', { 'Upload-Offset': '9'.repeat(400) });
  t.regex(await assertSwordError(t, beyond, 409, 'Conflict'), /continue at 9{79}…:/);
  t.is((await uploads.patch(upload.replace(/\/$/, ''), 4, 'efghij')).headers.get('upload-offset'), '10');
  t.is(await uploads.offset(upload), 10);
});

test('the creation may contain the first chunk', async (t) => {
  const { alice, uploads } = t.context;
  const send = (body: string, headers: Record<string, string>): Promise<Response> =>
    alice.post('/1/software/uploads/', body, { ...pieceHeaders(0), 'Upload-Length': '10', ...headers });
  const created = await send('abcd', checksumOf('md5', Buffer.from('abcd')));
  t.is(created.status, 201);
  t.is(created.headers.get('upload-offset'), '4');
  t.is(await uploads.offset(created.headers.get('location') ?? ''), 4);
  await assertSwordError(t, await send('abcd', { 'Content-Type': 'text/plain' }), 415, 'ErrorContent');
  await assertSwordError(t, await send('abcd', { 'Content-Encoding': 'gzip' }), 415, 'ErrorContent');
  await assertSwordError(t, await send('abcdefghijk', {}), 413, 'MaxUploadSizeExceeded');
  const wrong = await send('abcd', checksumOf('sha1', Buffer.from('abce')));
  await assertSwordError(t, wrong, 460, 'UploadChecksumMismatch');
});

test('a client may send an empty Upload-Metadata', async (t) => {
  const { uploads } = t.context;
  const answer = await uploads.create(10, { 'Upload-Metadata': '' });
  t.is(answer.status, 201);
  const head = await uploads.head(answer.headers.get('location') ?? '');
  t.is(head.headers.get('upload-metadata'), null);
});

test('metadata of an upload are validated in linear time, with any number of blanks', (t) => {
  t.throws(() => parseUploadMetadata(`a${' '.repeat(1_000_000)}!`), { message: /malformed/ });
  t.deepEqual(
    [...parseUploadMetadata(' a  YQ== ,b ')],
    [
      ['a', 'a'],
      ['b', ''],
    ],
  );
});

test('uploads have no dry run', async (t) => {
  const headers = { ...TUS, 'Upload-Length': '10' };
  const answer = await t.context.alice.post('/1/software/uploads/?dry-run=true', null, headers);
  await assertSwordError(t, answer, 400, 'ErrorBadRequest');
});

const creations: Record<string, [headers: Record<string, string>, status: number, name: string]> = {
  'no version': [{ 'Tus-Resumable': '' }, 412, 'TusVersionNotSupported'],
  'another version': [{ 'Tus-Resumable': '0.2.2' }, 412, 'TusVersionNotSupported'],
  'no length': [{ 'Upload-Length': '' }, 400, 'ErrorBadRequest'],
  'a negative length': [{ 'Upload-Length': '-1' }, 400, 'ErrorBadRequest'],
  'a deferred length': [{ 'Upload-Defer-Length': '1' }, 400, 'ErrorBadRequest'],
  'a part of a larger one': [{ 'Upload-Concat': 'partial' }, 400, 'ErrorBadRequest'],
  'too many bytes': [{ 'Upload-Length': String(MAX + 1) }, 413, 'MaxUploadSizeExceeded'],
  'a number beyond counting': [{ 'Upload-Length': '9'.repeat(400) }, 413, 'MaxUploadSizeExceeded'],
  'metadata without a key': [{ 'Upload-Metadata': 'a YQ==,,b YQ==' }, 400, 'ErrorBadRequest'],
  'a key twice': [{ 'Upload-Metadata': 'a YQ==,a Yg==' }, 400, 'ErrorBadRequest'],
  'values that are no base64': [{ 'Upload-Metadata': 'a Y-Q' }, 400, 'ErrorBadRequest'],
  'another client as its owner': [{ 'On-Behalf-Of': 'carol' }, 412, 'MediationNotAllowed'],
};

for (const [what, [headers, status, name]] of Object.entries(creations)) {
  test(`an upload is not created with ${what}`, async (t) => {
    const answer = await t.context.uploads.create(10, headers);
    t.notRegex(await assertSwordError(t, answer, status, name), /Infinity/);
    t.is(answer.headers.get('tus-resumable'), '1.0.0');
    t.is(answer.headers.get('tus-version'), name === 'TusVersionNotSupported' ? '1.0.0' : null);
  });
}

test('an invalid chunk changes nothing', async (t) => {
  const { alice, uploads } = t.context;
  const upload = await uploads.begin(10);
  await uploads.patch(upload, 0, 'abcd');
  const octets = { 'Content-Type': 'application/octet-stream' };
  const wrong = checksumOf('sha256', Buffer.from('eg'));
  const refused: [() => Promise<Response>, number, string][] = [
    [() => uploads.patch(upload, 4, 'ef', { 'Tus-Resumable': '1.0' }), 412, 'TusVersionNotSupported'],
    [() => uploads.patch(upload, 4, 'ef', octets), 415, 'ErrorContent'],
    [() => uploads.patch(upload, 4, 'ef', { 'Content-Encoding': 'gzip' }), 415, 'ErrorContent'],
    [() => uploads.patch(upload, 4, 'ef', { 'Upload-Offset': '4.0' }), 400, 'ErrorBadRequest'],
    [() => uploads.patch(upload, 4, 'efghijk'), 413, 'MaxUploadSizeExceeded'],
    [() => uploads.patch(upload, 4, 'ef', { 'Upload-Checksum': 'crc32 AAAAAA==' }), 400, 'ErrorBadRequest'],
    [() => uploads.patch(upload, 4, 'ef', { 'Upload-Checksum': 'sha1 AAAAAA==' }), 400, 'ErrorBadRequest'],
    [() => uploads.patch(upload, 4, 'ef', wrong), 460, 'UploadChecksumMismatch'],
    [() => alice.delete(`${upload}?dry-run=true`, TUS), 400, 'ErrorBadRequest'],
    [() => alice.post(upload, 'ef', pieceHeaders(4)), 405, 'MethodNotAllowed'],
    [() => alice.get(upload, TUS), 405, 'MethodNotAllowed'],
  ];
  for (const [send, status, name] of refused) {
    const answer = await send();
    await assertSwordError(t, answer, status, name);
    t.is(answer.headers.get('tus-resumable'), '1.0.0');
  }
  const chunked = { body: new Blob(['efghijk']).stream(), duplex: 'half' as const };
  for (const tooLong of [
    await uploads.patch(upload, 4, 'efghijk'),
    await alice.send('PATCH', upload, { ...chunked, headers: pieceHeaders(4) }),
  ]) {
    const summary = await assertSwordError(t, tooLong, 413, 'MaxUploadSizeExceeded');
    t.regex(summary, /announced with 10 bytes, but more were sent/);
  }
  t.is(await uploads.offset(upload), 4);
  for (const algorithm of ['sha1', 'sha256', 'md5']) {
    const offset = await uploads.offset(upload);
    t.is((await uploads.patch(upload, offset, 'ef', checksumOf(algorithm, Buffer.from('ef')))).status, 204);
  }
  t.is(await uploads.offset(upload), 10);
});

test('a checksum mismatch gets 460 Checksum Mismatch, as in the protocol', async (t) => {
  const upload = await t.context.uploads.begin(2);
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send(patchHead(t.context.alice, upload, 2, checksumOf('sha1', Buffer.from('xx'))));
  await connection.send('ab');
  t.regex((await connection.answers(1)).head, /^HTTP\/1\.1 460 checksum mismatch\r\n/i);
});

test('an upload belongs to its client and collection, and is not found for others', async (t) => {
  const { alice, bob, uploads } = t.context;
  const upload = await uploads.begin(10);
  const elsewhere = upload.replace('/software/', '/other/');
  const unknown = upload.replace(/[0-9a-f]{12}\/$/, '000000000000/');
  const theirs = new TusUploads(bob);
  const missing: [TusUploads, string][] = [
    [theirs, upload],
    [uploads, elsewhere],
    [uploads, unknown],
  ];
  for (const [client, target] of missing) {
    const head = await client.head(target);
    t.is(head.status, 404);
    t.is(head.headers.get('upload-offset'), null);
    t.is(head.headers.get('tus-resumable'), '1.0.0');
    await assertSwordError(t, await client.patch(target, 0, 'ab'), 404, 'NotFound');
    await assertSwordError(t, await client.delete(target), 404, 'NotFound');
  }
  await assertSwordError(t, await bob.post('/1/nowhere/uploads/', null, TUS), 404, 'NotFound');
  const stranger = await fetch(upload, { method: 'HEAD', headers: TUS });
  t.deepEqual([stranger.status, stranger.headers.get('tus-resumable')], [401, '1.0.0']);
  t.is(await uploads.offset(upload), 0);
  const named = await bob.post('/1/software/', null, { ...archiveHeaders(), ...partial, Upload: upload });
  await assertSwordError(t, named, 404, 'NotFound');
  const foreign = await alice.post('/1/other/', null, { ...archiveHeaders(), ...partial, Upload: upload });
  await assertSwordError(t, foreign, 400, 'ErrorBadRequest');
});

test('a client that cannot send PATCH and DELETE uses a header to override the method', async (t) => {
  const { alice, uploads } = t.context;
  const upload = await uploads.begin(2);
  const instead = (method: string) => ({ ...pieceHeaders(0), 'X-HTTP-Method-Override': method });
  t.is((await alice.post(upload, 'ab', instead('PATCH'))).status, 204);
  const standing = await alice.post(upload, null, instead('HEAD'));
  t.deepEqual([standing.headers.get('upload-offset'), await standing.text()], ['2', '']);
  t.is((await alice.post(upload, null, instead('DELETE'))).status, 204);
  t.is((await uploads.head(upload)).status, 404);
  const gone = await alice.post(upload, null, instead('HEAD'));
  await assertSwordError(t, gone, 404, 'NotFound', 'whole, since the client waits for a body');
  const unknown = await alice.post('/1/software/uploads/', null, instead('X'));
  await assertSwordError(t, unknown, 400, 'ErrorBadRequest');
  await assertSwordError(t, await alice.post(upload, null, instead('PUT')), 405, 'MethodNotAllowed');
});

test('a removed upload is gone, with all its files', async (t) => {
  const { service, uploads } = t.context;
  const upload = await uploads.whole(Buffer.from('abcd'));
  t.is((await uploads.delete(upload)).status, 204);
  t.is((await uploads.head(upload)).status, 404);
  await assertSwordError(t, await uploads.delete(upload), 404, 'NotFound');
  t.deepEqual(await filesOf(service, upload), []);
});

/** Returns the head of a chunk of `length` bytes, at the beginning unless `headers` say otherwise. */
function patchHead(
  client: TestClient,
  upload: string,
  length: number,
  headers: Record<string, string> = {},
): string {
  const all = { ...pieceHeaders(0), ...headers, 'Content-Length': length };
  return requestHead(`PATCH ${new URL(upload).pathname}`, client, all);
}

test('a chunk that declares more bytes than are left is refused before they are sent', async (t) => {
  const { service, uploads } = t.context;
  const upload = await uploads.begin(10);
  using connection = await RawConnection.to(service.url);
  await connection.send(patchHead(t.context.alice, upload, 11, { Expect: '100-continue' }));
  t.is((await connection.answers(1)).status, 413);
});

test('the received part of an aborted chunk is retained, unless it has a checksum', async (t) => {
  const { service, uploads } = t.context;
  const bytes = largeTar.subarray(0, 300_000);
  for (const [headers, kept] of [
    [{}, 300_000],
    [checksumOf('sha1', largeTar), 0],
  ] as const) {
    const upload = await uploads.begin(largeTar.length);
    using connection = await RawConnection.to(service.url);
    await connection.send(patchHead(t.context.alice, upload, largeTar.length, headers));
    await connection.send(bytes);
    await until(async () => (await bytesOf(service, upload)).length === 300_000); // it has arrived
    connection.reset();
    await until(async () => (await uploads.patch(upload, kept, '')).status === 204); // no other request writes to it now
    t.is(await uploads.offset(upload), kept);
    const rest = largeTar.subarray(kept);
    t.is((await uploads.patch(upload, kept, rest)).status, 204);
    t.deepEqual(await bytesOf(service, upload), largeTar);
  }
});

test('a client that continues shortly after the announced keep-alive time loses no chunk', async (t) => {
  const upload = await t.context.uploads.begin(2);
  using connection = await RawConnection.to(t.context.service.url);
  const head = (offset: number) => patchHead(t.context.alice, upload, 1, pieceHeaders(offset));
  await connection.send(`${head(0)}a`);
  t.regex((await connection.answers(1)).head, /^keep-alive: timeout=10$/im);
  await pause(13_000);
  await connection.send(`${head(1)}b`);
  t.is((await connection.answers(2)).status, 204);
});

// Runs alone: a request that waits two seconds for others would count as stalled.
test.serial('one request at a time adds to an upload; a stalled one is superseded', async (t) => {
  const { service, uploads } = t.context;
  const upload = await uploads.begin(1000);
  using connection = await RawConnection.to(service.url);
  await connection.send(patchHead(t.context.alice, upload, 1000));
  await connection.send('a'.repeat(400));
  await until(async () => (await bytesOf(service, upload)).length === 400);
  const second = await uploads.patch(upload, 0, 'b');
  t.is(second.headers.get('retry-after'), '2');
  await assertSwordError(t, second, 423, 'UploadLocked');
  const named = await t.context.alice.post('/1/software/', null, { ...archiveHeaders(), Upload: upload });
  await assertSwordError(t, named, 409, 'Conflict');
  await until(async () => (await uploads.offset(upload)) === 400); // the first has stalled
  await connection.untilEnded();
  t.is((await uploads.patch(upload, 400, 'b'.repeat(600))).status, 204);
  t.is((await bytesOf(service, upload)).toString(), 'a'.repeat(400) + 'b'.repeat(600));
});

test('an upload is removed even while a request adds to it', async (t) => {
  const { service, uploads } = t.context;
  const upload = await uploads.begin(1000);
  using connection = await RawConnection.to(service.url);
  await connection.send(patchHead(t.context.alice, upload, 1000));
  await connection.send('a'.repeat(400));
  await until(async () => (await bytesOf(service, upload)).length === 400);
  t.is((await uploads.delete(upload)).status, 204);
  await connection.untilEnded();
  t.deepEqual(await filesOf(service, upload), []);
});

test('an upload used by a deposit that a restored log does not have is not found', async (t) => {
  await using service = await RunningService.start({ uploadLimits: LIMITS });
  const options = { collections: ['software'] };
  const [alice, bob] = [await service.register('alice', options), await service.register('bob', options)];
  const headers = { ...archiveHeaders(), ...partial };
  const upload = await new TusUploads(alice).whole(helloZip);
  t.is((await alice.post('/1/software/', null, { ...headers, Upload: upload })).status, 201);
  t.is((await bob.post('/1/software/', helloZip, headers)).status, 201);
  await alice.post('/1/software/', largeTar, archiveHeaders('l.tar', 'application/x-tar'));
  for (const [depositId, status] of [
    [1, 409],
    [2, 404], // bob's
    [3, 404], // with other bytes
    [4, 404], // not there
  ] as const) {
    await service.stop();
    const usedAt = new Date().toISOString();
    await changeState(service, upload, { status: 'used', depositId, usedAt, sha256: sha256Of(helloZip) });
    await service.startAgain();
    const again = alice.at(service.url);
    const answer = await again.post('/1/software/', null, { ...headers, Upload: idOf(upload) });
    t.is(answer.status, status, await answer.text());
    t.is(answer.headers.has('link'), status === 409);
  }
});

test('an archive too large for one request is deposited by naming its upload', async (t) => {
  const { alice, service, uploads } = t.context;
  const tar = archiveHeaders('large.tar', 'application/x-tar');
  const plain = await alice.post('/1/software/', largeTar, tar);
  const refused = await assertSwordError(t, plain, 413, 'MaxUploadSizeExceeded');
  t.regex(
    refused,
    /send it as a resumable upload \(tus\) where the service document has depositns:resumableUploads/,
  );
  const upload = await uploads.whole(largeTar);
  const headers = { ...tar, 'Content-MD5': md5Of(largeTar), Upload: upload };
  const created = await alice.post('/1/software/', null, { ...headers, ...partial });
  t.is(created.status, 201);
  const edit = created.headers.get('location') ?? '';
  t.is(child(parsedBody(await created.text()), `${DEPOSIT}deposit_archive`).text, 'large.tar');
  const media = await alice.get(edit.replace('metadata', 'media'));
  t.deepEqual(Buffer.from(await media.arrayBuffer()), largeTar);
  t.is((await uploads.head(upload)).status, 404);
  t.deepEqual(await filesOf(service, upload), [`${idOf(upload)}.json`], 'its use is recorded');
  const again = await alice.post('/1/software/', null, { ...headers, ...partial });
  t.is(again.headers.get('link'), `<${edit}>; rel="edit"`);
  const summary = await assertSwordError(t, again, 409, 'Conflict');
  t.regex(summary, /is an archive of deposit \d+ already/);
  await alice.post(edit, helloEntry, { ...entryHeaders(), ...final });
  await alice.waitFor(edit.replace('metadata', 'status'), 'done');
});

test('an archive is added or replaced by naming an upload, by its id and with the name of its creation', async (t) => {
  const { alice, uploads } = t.context;
  const created = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const media = `${pathOf(created)}media/`;
  const described = metadataOf({ filename: 'a "b".zip', filetype: 'application/zip' });
  const added = await alice.post(media, null, { Upload: idOf(await uploads.whole(helloZip, described)) });
  t.is(added.status, 201);
  t.is(child(parsedBody(await added.text()), `${ATOM}deposit_archive`).text, 'a "b".zip');
  const upload = await uploads.whole(largeTar, described);
  const named = archiveHeaders('c.tar', 'application/x-tar');
  t.is((await alice.put(media, null, { Upload: upload, ...named, ...final })).status, 204);
  const history = await alice.get(media.replace('media', 'history'));
  const types = [...(await history.text()).matchAll(/term="(\w+)"/g)].map(([, type]) => type);
  t.deepEqual(types.slice(0, 5), [
    'DepositCreated',
    'MetadataAdded',
    'ArchiveAdded',
    'ArchivesReplaced',
    'DepositCompleted',
  ]);
});

test('a request that names an upload may have an empty chunked body', async (t) => {
  const { alice, service, uploads } = t.context;
  const upload = await uploads.whole(helloZip);
  const send = async (chunks: string) => {
    using connection = await RawConnection.to(service.url);
    const headers = { ...archiveHeaders(), ...partial, Upload: upload, 'Transfer-Encoding': 'chunked' };
    await connection.send(`${requestHead('POST /1/software/', alice, headers)}${chunks}`);
    return await connection.answers(1);
  };
  t.is((await send('1\r\nx\r\n0\r\n\r\n')).status, 400);
  t.is((await send('0\r\n\r\n')).status, 201);
});

test('an upload whose name is not UTF-8 is used only with another name', async (t) => {
  const { alice, uploads } = t.context;
  const name = Buffer.from('h\xe9llo.zip', 'latin1').toString('base64');
  const upload = await uploads.whole(helloZip, { 'Upload-Metadata': `filename ${name}` });
  const unnamed = { Upload: upload, 'Content-Type': 'application/zip', ...partial };
  const refused = await alice.post('/1/software/', null, unnamed);
  t.regex(await assertSwordError(t, refused, 400, 'ErrorBadRequest'), /no file name/);
  const named = await alice.post('/1/software/', null, { ...archiveHeaders(), ...unnamed });
  t.is(named.status, 201);
});

test('an invalid name in Upload-Metadata is refused as such', async (t) => {
  const { alice, uploads } = t.context;
  for (const filename of ['..', '\u202ehello.zip']) {
    const upload = await uploads.whole(helloZip, metadataOf({ filename, filetype: 'application/zip' }));
    const refused = await alice.post('/1/software/', null, { Upload: upload, ...partial });
    t.regex(await assertSwordError(t, refused, 400, 'ErrorBadRequest'), /Upload-Metadata (must|names)/);
    await uploads.delete(upload);
  }
});

test('a refused request leaves the upload unchanged', async (t) => {
  const { alice, service, uploads } = t.context;
  const zip = { ...archiveHeaders(), ...partial };
  const upload = await uploads.whole(helloZip, metadataOf({ filename: 'a\u202eb.zip' }));
  const done = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...final });
  const final405 = `${pathOf(done)}media/`;
  const entryOnly = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const edit = entryOnly.headers.get('location') ?? '';
  const media = edit.replace('metadata', 'media');
  const ofArchive = `sha-256=:${createHash('sha256').update(helloZip).digest('base64')}:`;
  const named = { ...zip, Upload: upload };
  const unnamed = { 'Content-Type': 'application/zip', Upload: upload };
  const create = (headers: Record<string, string>) =>
    alice.post('/1/software/', null, { ...named, ...headers });
  const refused: [() => Promise<Response>, number, string][] = [
    [() => create({ Upload: 'elsewhere' }), 400, 'ErrorBadRequest'],
    [() => alice.post('/1/software/', 'bytes', named), 400, 'ErrorBadRequest'],
    [() => create({ 'Content-Type': 'text/plain' }), 415, 'ErrorContent'],
    [() => create({ Packaging: 'urn:x' }), 415, 'ErrorContent'],
    [() => alice.post('/1/software/', null, unnamed), 400, 'ErrorBadRequest'],
    [() => create({ 'In-Progress': 'x' }), 400, 'ErrorBadRequest'],
    [() => create({ 'Content-MD5': md5Of('x') }), 412, 'ErrorChecksumMismatch'],
    [() => create({ 'Content-Digest': ofArchive }), 412, 'ErrorChecksumMismatch'],
    [() => alice.post(final405, null, named), 405, 'MethodNotAllowed'],
    [() => alice.post(media, null, { ...named, 'If-Match': '"1-7"' }), 412, 'ETagNotMatched'],
    [() => alice.post(edit, null, { ...final, Upload: upload }), 415, 'ErrorContent'],
    [() => alice.put(edit, null, named), 400, 'ErrorBadRequest'],
  ];
  for (const [send, status, name] of refused) await assertSwordError(t, await send(), status, name);
  const { 'Content-Type': _zip, ...untyped }: Record<string, string> = zip;
  const noType = await alice.post('/1/software/', null, { ...untyped, Upload: upload });
  t.regex(await assertSwordError(t, noType, 415, 'ErrorContent'), /The upload has no Content-Type: send/);
  const anEntry = await create(entryHeaders());
  t.regex(await anEntry.text(), /Accepted: application\/zip, application\/x-tar; compressed/, 'no entry');
  t.is(await uploads.offset(upload), helloZip.length);
  t.is((await alice.post(media, null, named)).status, 201);
  t.deepEqual(await filesOf(service, upload), [`${idOf(upload)}.json`]);
  const [part, noArchive] = [await uploads.begin(10), await uploads.whole(Buffer.alloc(600, 'text '))];
  await uploads.patch(part, 0, 'abc');
  const short = await alice.post(media, null, { ...zip, Upload: part });
  t.regex(await assertSwordError(t, short, 409, 'Conflict'), /has 3 of its 10 bytes/);
  t.is((await uploads.patch(part, 3, 'defghij')).status, 204, 'the refused request no longer holds it');
  const text = await alice.post(media, null, { ...zip, Upload: noArchive });
  await assertSwordError(t, text, 415, 'ErrorContent');
  const empty = await alice.post(media, null, { ...zip, Upload: await uploads.begin(0) });
  await assertSwordError(t, empty, 400, 'ErrorBadRequest');
  t.is(await uploads.offset(noArchive), 600);
});

test('a repeated request with an Idempotency-Key that names an upload gets the same response', async (t) => {
  const { alice, uploads } = t.context;
  const ask = async (upload: string, headers: Record<string, string>): Promise<Response> =>
    alice.post('/1/software/', null, { ...archiveHeaders(), ...partial, Upload: upload, ...headers });
  const [upload, other] = [await uploads.whole(helloZip), await uploads.whole(largeTar)];
  const key = { 'Idempotency-Key': randomBytes(8).toString('hex') };
  const withMd5 = { ...key, 'Content-MD5': md5Of(helloZip) };
  const [first, again] = [await ask(upload, withMd5), await ask(upload, withMd5)];
  t.deepEqual([first.status, again.status], [201, 201]);
  t.is(again.headers.get('location'), first.headers.get('location'));
  const otherSha256 = { ...key, 'Repr-Digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` };
  for (const differing of [{ ...key, 'Content-MD5': md5Of('x') }, otherSha256])
    await assertSwordError(t, await ask(upload, differing), 412, 'ErrorChecksumMismatch');
  await assertSwordError(t, await ask(upload, {}), 409, 'Conflict');
  await assertSwordError(t, await ask(upload, { 'Idempotency-Key': 'another' }), 409, 'Conflict');
  await assertSwordError(t, await ask(other, key), 409, 'Conflict');
  const named = { ...archiveHeaders(), ...partial, Upload: upload, ...key };
  const dryRun = await alice.post('/1/software/?dry-run=true', null, named);
  await assertSwordError(t, dryRun, 409, 'Conflict', 'its bytes are not there to be looked into');
  t.is((await ask(other, {})).status, 201, 'the refused upload can still be named');
});

test('a repeated PUT that names an upload gets the same response after another archive has replaced that one', async (t) => {
  const { alice, uploads } = t.context;
  const created = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const media = `${pathOf(created)}media/`;
  const [first, second] = [await uploads.whole(helloZip), await uploads.whole(largeTar)];
  const put = (upload: string, key: string) =>
    alice.put(media, null, {
      ...archiveHeaders('hello.zip', 'application/x-tar'),
      ...partial,
      Upload: upload,
      'Idempotency-Key': `${media} ${key}`,
    });
  t.is((await put(first, 'first')).status, 204);
  t.is((await put(second, 'second')).status, 204);
  const again = await put(first, 'first');
  t.is(again.status, 204, await again.text());
});

test('of concurrent requests that name the same upload exactly one uses it', async (t) => {
  const { alice, service, uploads } = t.context;
  const upload = await uploads.whole(largeTar);
  const headers = { ...archiveHeaders('large.tar', 'application/x-tar'), ...partial, Upload: upload };
  const slug = randomBytes(8).toString('hex');
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => alice.post('/1/software/', null, { ...headers, Slug: slug })),
  );
  t.deepEqual(
    answers.map(({ status }) => status).sort((one, other) => one - other),
    [201, 409, 409, 409, 409, 409],
  );
  const created = await Array.fromAsync(service.service.log.readAll());
  t.is(created.filter(({ data }) => data['slug'] === slug).length, 1);
});

test('the number of open uploads is limited, per client and in total', async (t) => {
  const limits = { maxSize: 3000, perClient: 2, totalSize: 4000, expiry: 3_600_000 };
  await using service = await RunningService.start({ uploadLimits: limits });
  const client = await service.register('alice', { collections: ['software'] });
  const alice = new TusUploads(client);
  const bob = new TusUploads(await service.register('bob', { collections: ['software'] }));
  const wrong = { ...pieceHeaders(0), 'Upload-Length': '1000', ...checksumOf('sha1', Buffer.from('x')) };
  const refused = await client.post('/1/software/uploads/', 'ab', wrong);
  await assertSwordError(t, refused, 460, 'UploadChecksumMismatch', 'it leaves no upload that counts');
  const [first] = await Promise.all([alice.begin(1000), alice.begin(1000)]);
  const third = await alice.create(10);
  t.is(third.headers.get('retry-after'), '60');
  await assertSwordError(t, third, 429, 'TooManyRequests');
  await assertSwordError(t, await bob.create(2001), 503, 'ServiceUnavailable');
  t.is((await bob.create(500)).status, 201);
  await assertSwordError(t, await bob.create(501), 429, 'TooManyRequests');
  await alice.delete(first);
  const many = await Promise.all(Array.from({ length: 5 }, () => alice.create(300)));
  t.deepEqual(
    many.map(({ status }) => status).sort((one, other) => one - other),
    [201, 429, 429, 429, 429],
  );
});

test('uploads in a collection that was revoked do not count against the limit of the client', async (t) => {
  const limits = { maxSize: 3000, perClient: 2, totalSize: 40_000, expiry: 3_600_000 };
  await using service = await RunningService.start({ uploadLimits: limits });
  const client = await service.register('alice', { collections: ['software', 'other'] });
  const uploads = new TusUploads(client);
  await Promise.all([uploads.begin(10), uploads.begin(10)]);
  const inOther = () => client.post('/1/other/uploads/', null, { ...TUS, 'Upload-Length': '10' });
  await assertSwordError(t, await inOther(), 429, 'TooManyRequests');
  const command = { type: 'RevokeCollection', client: 'alice', collection: 'software' } as const;
  await service.administration.client(command);
  await until(async () => (await uploads.create(10)).status === 404);
  t.is((await inOther()).status, 201);
});

test('a login or grant revoked while a chunk arrives refuses the chunk', async (t) => {
  const { service } = t.context;
  const revocations = {
    401: { type: 'DisableClient' },
    404: { type: 'RevokeCollection', collection: 'software' },
  } as const;
  for (const [status, command] of Object.entries(revocations)) {
    const client = await service.register(`revoked-${status}`, { collections: ['software'] });
    const uploads = new TusUploads(client);
    const upload = await uploads.begin(10);
    using connection = await RawConnection.to(service.url);
    await connection.send(patchHead(client, upload, 4, { Expect: '100-continue' }));
    t.is((await connection.answers(1)).status, 100, 'the request is authenticated and its body awaited');
    await connection.send('ab');
    await service.administration.client({ ...command, client: client.name });
    await until(async () => (await uploads.create(1)).status === Number(status));
    await connection.send('cd');
    t.is((await connection.answers(2)).status, Number(status));
  }
});

test('a client finds its last used uploads, at any total number and independently of other clients', async (t) => {
  const folder = await temporaryFolder(t);
  const options = { folder, limits: LIMITS, logger: silentLogger, remembered: 2 };
  await using uploads = await ResumableUploads.open(options);
  const owned = async (client: string, isUsed: boolean) => {
    const owner = { client, collection: 'software' };
    const upload = await uploads.create({ ...owner, length: 1, metadata: null });
    if (isUsed) await upload.use(1, 'a'.repeat(64));
    await pause(2); // each is later than the one before
    return () => uploads.find(upload.id, owner) !== undefined;
  };
  const bobs = await owned('bob', true);
  const alices = [await owned('alice', false)];
  for (let count = 0; count < 4; count += 1) alices.push(await owned('alice', true));
  await uploads.sweep();
  const left = [false, false, true, true];
  t.deepEqual(
    [bobs, ...alices].map((isFound) => isFound()),
    [true, true, ...left],
  );
  t.is((await readdir(folder)).filter((name) => name.endsWith('.json')).length, 4);
});

test('an idle upload expires, and its files are removed', async (t) => {
  await using service = await RunningService.start({ uploadLimits: { ...LIMITS, expiry: 700 } });
  const uploads = new TusUploads(await service.register('alice', { collections: ['software'] }));
  const abandoned = await uploads.begin(10);
  await uploads.patch(abandoned, 0, 'abc');
  await until(async () => (await uploads.head(abandoned)).status === 404);
  await assertSwordError(t, await uploads.patch(abandoned, 3, 'def'), 404, 'NotFound');
  t.is((await filesOf(service, abandoned)).length, 2, 'until the next sweep');
  await service.stop();
  await service.startAgain();
  t.deepEqual(await filesOf(service, abandoned), []);
});

test('a service without resumable uploads has none of their routes', async (t) => {
  await using service = await RunningService.start({ uploadLimits: { ...LIMITS, maxSize: 0 } });
  const alice = await service.register('alice', { collections: ['software'] });
  await assertSwordError(t, await new TusUploads(alice).create(10), 404, 'NotFound');
  t.false((await (await alice.get('/1/servicedocument/')).text()).includes('esumable'));
  const named = await alice.post('/1/software/', null, { ...archiveHeaders(), Upload: 'x' });
  await assertSwordError(t, named, 404, 'NotFound');
});

test('a deposit that accepts no more archives leaves the upload to another deposit', async (t) => {
  const { alice, service, uploads } = t.context;
  const upload = await uploads.whole(helloZip);
  const full = await alice.post('/1/software/', helloZip, {
    ...archiveHeaders(),
    ...partial,
  });
  const media = `${pathOf(full)}media/`;
  const named = { ...archiveHeaders(), Upload: upload };
  await assertSwordError(t, await alice.post(media, null, named), 400, 'ErrorBadRequest');
  const record = JSON.parse(await readFile(fileOf(service, upload, 'json'), 'utf8')) as { state: unknown };
  t.deepEqual(record.state, { status: 'open' });
  t.is((await alice.put(media, null, named)).status, 204);
});

test('after a restart each upload has its offset; unverified bytes and orphaned files are removed', async (t) => {
  await using service = await RunningService.start({ uploadLimits: LIMITS });
  const alice = await service.register('alice', { collections: ['software'] });
  const uploads = new TusUploads(alice);
  const metadata = metadataOf({ filename: 'a.zip' });
  const [begun, verifying] = [await uploads.begin(10, metadata), await uploads.begin(10)];
  for (const upload of [begun, verifying]) await uploads.patch(upload, 0, 'abcd');
  const [used, unused] = [await uploads.whole(helloZip), await uploads.whole(helloZip)];
  const headers = { ...archiveHeaders(), ...partial };
  const created = await alice.post('/1/software/', null, { ...headers, Upload: used });
  t.is(created.status, 201);
  const [usedNow, unusedNow] = [await uploads.whole(helloZip), await uploads.whole(helloZip)];
  const createdNow = await alice.post('/1/software/', null, { ...headers, Upload: usedNow });
  await service.stop();

  // The state that a kill leaves in the middle of a chunk with a checksum, and of the creation of an upload.
  await changeState(service, verifying, { status: 'verifying', from: 4 });
  await writeFile(fileOf(service, verifying, 'bytes'), 'abcdefg');
  for (const name of ['x.bytes', `${idOf(begun)}.json.new`]) {
    await writeFile(path.join(service.folder, 'uploads', name), '{');
  }
  // The state after the log has named the archive, and before that: in a log that was moved meanwhile.
  const elsewhere = { stream: 'deposit-1', revision: 0, id: randomUUID(), position: 'f'.repeat(16) };
  const claims = {
    [used]: { requestId: created.headers.get('x-request-id'), after: elsewhere },
    [unused]: { requestId: randomUUID(), after: `${'f'.repeat(16)}-${'f'.repeat(16)}` },
    // Claims of this release name the deposit and the command.
    [usedNow]: { ...claimBy(createdNow.headers.get('x-request-id')), depositId: depositIdOf(createdNow) },
    [unusedNow]: { ...claimBy(randomUUID()), depositId: depositIdOf(createdNow) },
  };
  for (const [upload, claim] of Object.entries(claims)) {
    await changeState(service, upload, {
      status: 'claimed',
      claim: { ...claim, sha256: sha256Of(helloZip) },
    });
  }
  for (const upload of [used, usedNow]) await writeFile(fileOf(service, upload, 'bytes'), helloZip);
  await service.startAgain();

  const again = alice.at(service.url);
  const pathIn = (iri: string): string => new URL(iri).pathname;
  const uploadsAgain = new TusUploads(again);
  for (const upload of [begun, verifying]) t.is(await uploadsAgain.offset(pathIn(upload)), 4);
  const head = await uploadsAgain.head(pathIn(begun));
  t.is(head.headers.get('upload-metadata'), metadata['Upload-Metadata'] ?? '');
  t.is((await uploadsAgain.patch(pathIn(verifying), 4, 'efghij')).status, 204);
  t.is((await bytesOf(service, verifying)).toString(), 'abcdefghij');
  const left = await readdir(path.join(service.folder, 'uploads'));
  const known = [begun, verifying, used, unused, usedNow, unusedNow].flatMap((upload) =>
    filesOfWhole(idOf(upload)),
  );
  t.deepEqual(left.sort(), known.sort());

  const nothing = checksumOf('sha1', Buffer.alloc(0));
  const added = await uploadsAgain.patch(pathIn(used), helloZip.length, '', nothing);
  await assertSwordError(t, added, 423, 'UploadLocked', 'by the request that has claimed it');
  for (const [upload, first] of [
    [used, created],
    [usedNow, createdNow],
  ] as const) {
    const repeated = await again.post('/1/software/', null, { ...headers, Upload: idOf(upload) });
    const iri = `${again.url}${pathIn(first.headers.get('location') ?? '')}`;
    t.is(repeated.headers.get('link'), `<${iri}>; rel="edit"`);
    await assertSwordError(t, repeated, 409, 'Conflict');
    t.deepEqual(await filesOf(service, upload), [`${idOf(upload)}.json`]);
  }
  for (const upload of [unused, unusedNow])
    t.is((await again.post('/1/software/', null, { ...headers, Upload: idOf(upload) })).status, 201);
});

function claimBy(commandId: string | null) {
  return { commandId, requestId: commandId, after: null };
}

test("the protocol's client completes an upload over failing connections", async (t) => {
  const { alice, service, uploads } = t.context;
  await using proxy = await FaultProxy.start(Number(new URL(service.url).port));
  const endpoint = `http://127.0.0.1:${proxy.port}/1/software/uploads/`;
  const upload = await tusUpload(largeTar, {
    endpoint,
    headers: { Authorization: alice.authorization },
    metadata: { filename: 'large.tar', filetype: 'application/x-tar' },
    retryDelays: [0, 10, 50, 200, 500, 1000, 2500],
    onBeforeRequest: (request) => {
      const breaks = request.getMethod() === 'PATCH' && proxy.requests.length < 8;
      if (breaks) proxy.inject({ kind: 'reset', afterBytes: 200_000 }, /^PATCH/, 1);
    },
    // The service names itself in IRIs, not the proxy.
    httpStack: throughProxy(service.url, `http://127.0.0.1:${proxy.port}`),
  });
  t.true(proxy.requests.filter((request) => request.startsWith('PATCH')).length >= 3);
  t.is(await uploads.offset(upload), largeTar.length);
  t.deepEqual(await bytesOf(service, upload), largeTar);
  t.is((await alice.post('/1/software/', null, { Upload: upload, ...partial })).status, 201);
});

test("the protocol's client creates with the first chunk, sends small ones, overrides PATCH and terminates", async (t) => {
  const { alice, service, uploads } = t.context;
  const headers = { Authorization: alice.authorization };
  const bytes = largeTar.subarray(0, 300_000);
  const upload = await tusUpload(bytes, {
    endpoint: `${service.url}/1/software/uploads/`,
    headers,
    chunkSize: 70_000,
    uploadDataDuringCreation: true,
    overridePatchMethod: true,
  });
  t.deepEqual(await bytesOf(service, upload), bytes);
  await tus.Upload.terminate(upload, { headers });
  t.is((await uploads.head(upload)).status, 404);
});

test('exactly the acknowledged bytes survive SIGKILL', async (t) => {
  const folder = await temporaryFolder(t);
  await registerDrill(folder);
  const killed = await startedOn(folder);
  t.teardown(() => killed[Symbol.asyncDispose]());
  const drill = drillClient(killed.url);
  const uploads = new TusUploads(drill, 'drill');
  const [plain, checked] = [await uploads.begin(largeTar.length), await uploads.begin(largeTar.length)];
  const at = 200_000;
  for (const upload of [plain, checked]) await uploads.patch(upload, 0, largeTar.subarray(0, at));
  const connections: RawConnection[] = [];
  for (const [upload, headers] of [
    [plain, {}],
    [checked, checksumOf('sha1', largeTar.subarray(at))],
  ] as const) {
    const connection = await RawConnection.to(killed.url);
    connections.push(connection);
    const chunk = { ...pieceHeaders(at), ...headers };
    await connection.send(patchHead(drill, upload, largeTar.length - at, chunk));
    await connection.send(largeTar.subarray(at, at + 300_000));
    const file = path.join(folder, 'uploads', `${idOf(upload)}.bytes`);
    await until(async () => (await stat(file)).size === at + 300_000);
  }
  await killed.end('SIGKILL');
  for (const connection of connections) connection[Symbol.dispose]();
  await using service = await startedOn(folder);
  const again = drill.at(service.url);
  const uploadsAgain = new TusUploads(again, 'drill');
  for (const [upload, offset] of [
    [plain, at],
    [checked, at],
  ] as const) {
    const { pathname } = new URL(upload);
    t.is(await uploadsAgain.offset(pathname), offset, 'bytes that were not synced and recorded do not count');
    t.is((await uploadsAgain.patch(pathname, offset, largeTar.subarray(offset))).status, 204);
    const archive = { ...archiveHeaders('a.tar', 'application/x-tar'), 'Content-MD5': md5Of(largeTar) };
    const named = { ...archive, ...partial, Upload: idOf(upload) };
    t.is((await again.post('/1/drill/', null, named)).status, 201);
  }
  t.is(await service.end('SIGTERM'), 0);
});

/** Starts on a port that no other process has got since it was found to be free. */
async function startedOn(folder: string): Promise<ServiceProcess> {
  for (;;) {
    try {
      return await ServiceProcess.start(folder, await freePort());
    } catch (error) {
      if (!(error as Error).message.includes('EADDRINUSE')) throw error;
    }
  }
}

function assertExpiry(t: ExecutionContext, answer: Response): void {
  const expires = answer.headers.get('upload-expires') ?? '';
  t.is(new Date(expires).toUTCString(), expires);
  t.true(Date.parse(expires) > Date.now() + 3_000_000);
}

/** Uploads with the client of the protocol until all bytes are sent; resolves to the IRI of the upload. */
async function tusUpload(bytes: Buffer, options: tus.UploadOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const upload = new tus.Upload(bytes, { ...options, onSuccess: () => resolve(), onError: reject });
  upload.start();
  await promise;
  return upload.url ?? '';
}

/** Redirects requests from one URL to the other. */
function throughProxy(from: string, to: string): tus.HttpStack {
  const stack = new tus.DefaultHttpStack({});
  return {
    createRequest: (method, url) => stack.createRequest(method, url.replace(from, to)),
    getName: () => stack.getName(),
  };
}

function idOf(upload: string): string {
  return /([0-9a-f-]{36})\/?$/.exec(upload)?.[1] ?? '';
}

function fileOf({ folder }: RunningService, upload: string, ending: 'json' | 'bytes'): string {
  return path.join(folder, 'uploads', `${idOf(upload)}.${ending}`);
}

function bytesOf(service: RunningService, upload: string): Promise<Buffer> {
  return readFile(fileOf(service, upload, 'bytes'));
}

async function filesOf({ folder }: RunningService, upload: string): Promise<string[]> {
  const names = await readdir(path.join(folder, 'uploads'));
  return names.filter((name) => name.startsWith(idOf(upload)));
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function filesOfWhole(id: string): string[] {
  return [`${id}.bytes`, `${id}.json`];
}

async function changeState(service: RunningService, upload: string, state: object): Promise<void> {
  const file = fileOf(service, upload, 'json');
  const record = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...record, state }));
}
