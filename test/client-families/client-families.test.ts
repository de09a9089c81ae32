import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { APP, ATOM, child, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import { readAtomStatement, readOreStatement } from '../../testing/documents/sword-statement.ts';
import { entryXml, helloEntry, helloTar, helloZip, md5Of } from '../../testing/http/deposit-bodies.ts';
import { headerOf } from '../../testing/http/raw-conversation.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import type { Account } from './account.ts';
import { answered, becomesDone, collectionOf, filesOf, linkOf } from './answers.ts';
import { Curl } from './curl.ts';
import { installedCurl } from './installed-curl.ts';
import { InvenioRdm } from './invenio-rdm.ts';
import { JavaSword2, readByJava } from './java-sword2.ts';
import { PhpSword2, readByPhp } from './php-sword2.ts';
import { PythonSword2, readByPython } from './python-sword2.ts';
import { generatedEntry, readNamespaced, readUnprefixed, SwhDeposit } from './swh-deposit.ts';
import { Tus } from './tus.ts';

type Context = { service: RunningService; alice: Account; col: string; maxUploadSize: number };
const test = anyTest as TestFn<Context>;

const SIMPLE_ZIP = 'http://purl.org/net/sword/package/SimpleZip';
const docsZip = zipOf([{ name: 'docs/readme', data: 'read me\n' }]);
const docsTar = tarOf([{ name: 'docs/readme', data: 'read me\n' }]);
/** More than curl sends without `Expect`. */
const largeTar = tarOf([{ name: 'large', data: Buffer.alloc(1_100_000, 'x') }]);

test.before(async (t) => {
  const maxUploadSize = 2 * 1024 ** 2;
  const service = await RunningService.start({ maxUploadSize });
  await service.register('alice', { collections: ['software'] });
  await service.register('hal', { collections: ['software'], providerUrl: 'https://hal.example/' });
  const alice = { url: service.url, user: 'alice', password: 'secret' };
  t.context = { service, alice, col: `${service.url}/1/software/`, maxUploadSize };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

test('curl deposits archive and entry as a form, and reads the status', async (t) => {
  const curl = new Curl(t.context.alice);
  const sd = answered(t, await curl.ask('GET', `${t.context.alice.url}/1/servicedocument/`), 200);
  const files = [
    { name: 'file', filename: 'hello.tar', type: 'application/x-tar', body: helloTar },
    { name: 'atom', filename: 'hello.xml', type: 'application/atom+xml;charset=UTF-8', body: helloEntry },
  ];
  const receipt = await curl.form(collectionOf(sd.body), [['In-Progress', 'false']], files);
  answered(t, receipt, 201);
  await becomesDone(t, () => curl.ask('GET', linkOf(receipt.body, 'alternate')));
});

test('curl deposits step by step: an archive above 1 MiB after 100 Continue, another by -T, the entry', async (t) => {
  const curl = new Curl(t.context.alice);
  const archive = (filename: string, bytes: Buffer) =>
    [
      ['In-Progress', 'true'],
      ['Content-Type', 'application/x-tar'],
      ['Content-Disposition', `attachment; filename=${filename}`],
      ['Content-MD5', md5Of(bytes)],
    ] as const;
  const made = await curl.data('POST', t.context.col, archive('large.tar', largeTar), largeTar);
  const edit = headerOf(answered(t, made, 201), 'Location') ?? '';
  const media = linkOf(made.body, 'edit-media').replace(/\/$/, '');
  answered(t, await curl.data('PUT', media, archive('hello.tar', helloTar), helloTar), 204);
  answered(t, await curl.data('POST', media, archive('docs.tar', docsTar), docsTar), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['hello.tar', 'docs.tar']);
  const entry = [
    ['In-Progress', 'false'],
    ['Content-Type', 'application/atom+xml;type=entry'],
  ] as const;
  answered(t, await curl.data('POST', edit, entry, helloEntry), 201);
  await becomesDone(t, () => curl.ask('GET', linkOf(made.body, 'alternate')));
});

test('curl deposits a form in parts with unnamed archives, and completes without a body', async (t) => {
  const curl = new Curl(t.context.alice);
  const partial = [['In-Progress', 'true']] as const;
  const file = { name: 'file', filename: 'payload', type: 'application/x-tar' };
  const made = answered(t, await curl.form(t.context.col, partial, [{ ...file, body: largeTar }]), 201);
  const media = linkOf(made.body, 'edit-media');
  answered(t, await curl.form(media, partial, [{ ...file, body: helloTar }]), 201);
  const edit = linkOf(made.body, 'edit');
  const type = 'application/atom+xml;charset=UTF-8';
  const atom = { name: 'atom', filename: 'entry.xml', type, body: helloEntry };
  answered(t, await curl.form(edit, partial, [atom]), 201);
  answered(t, await curl.ask('POST', edit, [['In-Progress', 'false']]), 200);
  await becomesDone(t, () => curl.ask('GET', linkOf(made.body, 'alternate')));
});

test('the installed curl, if any, deposits with the commands of the README', async (t) => {
  const { service, alice, col } = t.context;
  const curl = await installedCurl(alice);
  if (!curl) return t.pass('it does not exist');
  const [tar, xml] = [path.join(service.folder, 'curl.tar'), path.join(service.folder, 'curl.xml')];
  await Promise.all([writeFile(tar, largeTar), writeFile(xml, helloEntry)]);
  const status = (receipt: string) => new Curl(alice).ask('GET', linkOf(receipt, 'alternate'));
  const atom = `-F 'atom=@${xml};type=application/atom+xml;charset=UTF-8'`;
  const form = await curl(`-H 'In-Progress: false' -F 'file=@${tar};type=application/x-tar' ${atom} ${col}`);
  await becomesDone(t, () => status(form));
  const named = `-H 'Content-Type: application/x-tar' -H 'Content-Disposition: attachment; filename=curl.tar'`;
  const md5 = `-H 'Content-MD5: ${md5Of(largeTar)}'`;
  const made = await curl(`-H 'In-Progress: true' ${named} ${md5} --data-binary @${tar} ${col}`);
  const entry = `-H 'Content-Type: application/atom+xml;type=entry' --data-binary @${xml}`;
  await curl(`-H 'In-Progress: false' ${entry} ${linkOf(made, 'edit')}`);
  await becomesDone(t, () => status(made));
});

test('sword2 for Python finds its collection, deposits multipart/related, adds, replaces and completes', async (t) => {
  using client = await PythonSword2.for(t.context.alice);
  const sd = answered(t, await client.get(`${t.context.alice.url}/1/servicedocument/`), 200);
  const zip = { filename: 'hello.zip', mimetype: 'application/zip', payload: helloZip };
  const made = answered(t, await client.create(collectionOf(sd.body), helloEntry, zip), 201);
  const { edit, editMedia, seIri, alternate, atomStatement } = readByPython(made.body);
  t.is(headerOf(made, 'location'), edit);
  const docs = { filename: 'docs 1.zip', mimetype: 'application/zip', payload: docsZip };
  answered(t, await client.addFile(editMedia, docs), 201);
  answered(t, await client.addFile(seIri, { ...docs, filename: 'more.zip' }), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['hello.zip', 'docs%201.zip', 'more.zip']);
  answered(t, await client.addMetadata(seIri, entryXml('<title>More</title>')), 201);
  answered(t, await client.replace(edit, helloEntry, zip), 204);
  t.deepEqual(await filesOf(t.context.alice, edit), ['hello.zip']);
  answered(t, await client.completeDeposit(seIri), 200);
  await becomesDone(t, () => client.get(alternate));
  answered(t, await client.get(edit), 200);
  const statement = answered(t, await client.getAtomStatement(atomStatement), 200);
  t.is(readAtomStatement(parsedBody(statement.body)).originalDeposits.length, 1);
  t.deepEqual(
    client.http.challenged,
    ['GET /1/servicedocument/', 'POST /1/software/'],
    'the credentials were requested after the whole deposit was sent',
  );
});

test('sword2 for Python deletes a partial deposit', async (t) => {
  using client = await PythonSword2.for(t.context.alice);
  const zip = { filename: 'hello.zip', mimetype: 'application/zip', payload: helloZip };
  const { edit } = readByPython((await client.create(t.context.col, helloEntry, zip)).body);
  answered(t, await client.deleteContainer(edit), 204);
  answered(t, await client.get(edit), 404);
});

test('the PHP library deposits its package, adds and replaces, and completes with a form type', async (t) => {
  const client = new PhpSword2(t.context.alice);
  const sd = answered(t, await client.servicedocument(`${t.context.alice.url}/1/servicedocument/`), 200);
  const made = await client.depositMultipart(collectionOf(sd.body), `${helloEntry}\n`, helloZip);
  const { edit, editMedia, se } = readByPhp(answered(t, made, 201).body);
  answered(t, await client.deposit(se, 'docs.zip', docsZip), 201);
  answered(t, await client.deposit(editMedia, 'more.zip', docsZip), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['package.zip', 'docs.zip', 'more.zip']);
  answered(t, await client.replaceMetadata(edit, helloEntry), 204);
  const content = answered(t, await client.retrieveContent(editMedia, SIMPLE_ZIP), 200);
  t.is(headerOf(content, 'Packaging'), SIMPLE_ZIP);
  answered(t, await client.completeIncompleteDeposit(se), 200);
  await becomesDone(t, () => client.servicedocument(linkOf(made.body, 'alternate')));
});

test('a Content-Length with chunks, as newer libcurl sends for the PHP library, is refused as ambiguous', async (t) => {
  const client = new PhpSword2(t.context.alice);
  const answer = await client.depositInChunksWithLength(t.context.col, 'hello.zip', helloZip);
  assertErrorDocument(t, answered(t, answer, 400).body, 'ErrorBadRequest');
});

test('the Java library deposits in chunks and undeclared base64, adds, replaces and completes', async (t) => {
  const client = new JavaSword2(t.context.alice);
  const sd = answered(t, await client.get(`${t.context.alice.url}/1/servicedocument/`), 200);
  const made = await client.depositMultipart(collectionOf(sd.body), helloEntry, 'docs.tar', docsTar);
  const { edit, editMedia, statement } = readByJava(answered(t, made, 201).body);
  t.is(headerOf(made, 'Location'), edit);
  answered(t, await client.addToContainer(edit, 'hello.zip', helloZip), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['docs.tar', 'hello.zip']);
  answered(t, await client.replaceMedia(editMedia, 'hello.zip', helloZip), 204);
  answered(t, await client.addToMediaResource(editMedia, 'docs.zip', docsZip), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['hello.zip', 'docs.zip']);
  answered(t, await client.complete(edit), 200);
  await becomesDone(t, () => client.get(linkOf(made.body, 'alternate')));
  const rdf = answered(t, await client.get(statement, [['Accept', 'application/rdf+xml']]), 200);
  t.is(readOreStatement(parsedBody(rdf.body)).originalDeposits.length, 2);
  const content = await client.get(editMedia, [
    ['Accept-Packaging', SIMPLE_ZIP],
    ['Accept', 'application/zip'],
  ]);
  answered(t, content, 200);
});

test('an archive that the Java library pads to whole KiB mismatches its MD5 and is refused', async (t) => {
  const client = new JavaSword2(t.context.alice);
  const answer = await client.depositMultipart(t.context.col, helloEntry, 'hello.tar', helloZip);
  assertErrorDocument(t, answered(t, answer, 412).body, 'ErrorChecksumMismatch');
});

test('undeclared base64 is decoded only for archives, completely and within their limits', async (t) => {
  const client = new JavaSword2(t.context.alice);
  const deposit = (file: Buffer) => client.depositMultipart(t.context.col, helloEntry, 'a.tar', file);
  const noArchive = Buffer.alloc(2048, 'no archive, but a text of some length ');
  assertErrorDocument(t, answered(t, await deposit(noArchive), 415).body, 'ErrorContent');
  const { maxUploadSize } = t.context;
  const largest = Buffer.concat([docsTar, Buffer.alloc(maxUploadSize - docsTar.length)]);
  const made = answered(t, await deposit(largest), 201);
  const received = await filesOf(t.context.alice, readByJava(made.body).edit);
  t.deepEqual(received, ['a.tar']);
  const tooLarge = await deposit(Buffer.concat([largest, Buffer.alloc(1024)]));
  assertErrorDocument(t, answered(t, tooLarge, 413).body, 'MaxUploadSizeExceeded');
});

test('InvenioRDM deposits the entry, puts the archive, completes without a body and polls', async (t) => {
  using client = await InvenioRdm.for(t.context.alice, t.context.col);
  const { deposit_id: id = '', deposit_status } = await client.createDeposit(helloEntry);
  t.is(deposit_status, 'partial');
  t.deepEqual(await client.updateDepositFiles(id, 'hello.zip', helloZip), {});
  t.is((await client.completeDeposit(id))['deposit_id'], id);
  let read: Readonly<Record<string, string>> = {};
  await until(async () => {
    read = await client.getDepositStatus(id);
    return read['deposit_status'] === 'done';
  });
  t.regex(read['deposit_swh_id'] ?? '', /^swh:1:dir:[0-9a-f]{40}$/);
});

test('swh deposit uploads one form, polls, and adds metadata to the done deposit', async (t) => {
  const hal = { ...t.context.alice, user: 'hal' };
  const client = new SwhDeposit(hal);
  const collection = await client.collection();
  const archive = { filename: 'hello.tgz', bytes: helloTar };
  const metadata = generatedEntry('https://hal.example/hello');
  const made = answered(t, await client.upload(collection, { archive, metadata }, false), 201);
  const id = readNamespaced(made.body)['deposit_id'] ?? '';
  t.is(readUnprefixed(made.body)['deposit_id'], id);
  await becomesDone(t, () => client.status(collection, id));
  const status = readNamespaced((await client.status(collection, id)).body);
  const { deposit_swh_id: swhid = '', deposit_swh_id_context: context = '' } = status;
  t.regex(context, /;origin=https:\/\/hal\.example\/hello;/);
  answered(t, await client.updateDone(collection, id, swhid, helloEntry), 204);
  const reference = `<d:deposit><d:reference><d:object swhid="${context}"/></d:reference></d:deposit>`;
  const only = await client.metadataOnly(
    collection,
    entryXml(`<title>Review</title><author><name>Ada</name></author>${reference}`),
  );
  t.is(readNamespaced(answered(t, only, 201).body)['deposit_status'], 'done');
});

test('swh deposit uploads in parts: archive, another, metadata, a replacing form, with underscores and slug', async (t) => {
  const hal = { ...t.context.alice, user: 'hal' };
  const client = new SwhDeposit(hal, 'hello-2');
  const first = { filename: 'hello.zip', bytes: helloZip };
  const made = answered(t, await client.upload('software', { archive: first }, true), 201);
  const id = readUnprefixed(made.body)['deposit_id'] ?? '';
  const second = { filename: 'docs.tar', bytes: docsTar };
  const status = async () => readUnprefixed((await client.status('software', id)).body)['deposit_status'];
  answered(t, await client.upload('software', { archive: second }, true, { id }), 201);
  answered(t, await client.upload('software', { metadata: helloEntry }, true, { id }), 201);
  const both = { archive: second, metadata: helloEntry };
  answered(t, await client.upload('software', both, true, { id }), 201);
  answered(t, await client.upload('software', { metadata: helloEntry }, true, { id, replace: true }), 204);
  answered(t, await client.upload('software', { archive: first }, true, { id, replace: true }), 204);
  t.is(await status(), 'partial');
  answered(t, await client.upload('software', both, false, { id, replace: true }), 204);
  await becomesDone(t, () => client.status('software', id));
  const done = readUnprefixed((await client.status('software', id)).body);
  t.regex(done['deposit_swh_id_context'] ?? '', /;origin=https:\/\/hal\.example\/hello-2;/);
});

test('swh deposit reads the reason of a refusal', async (t) => {
  const client = new SwhDeposit({ ...t.context.alice, user: 'hal' });
  const refused = await client.metadataOnly('software', '<entry/>');
  const error = parsedBody(answered(t, refused, 400).body);
  t.is(error.qname, 'sword:error');
  t.is(texts(error, `${ATOM}summary`).length, 1);
});

test('a tus client sends an archive in chunks, resumes after a disconnect, and deposits the upload', async (t) => {
  const client = new Tus(t.context.alice);
  const curl = new Curl(t.context.alice);
  const sd = await curl.ask('GET', `${t.context.alice.url}/1/servicedocument/`);
  const collection = child(child(parsedBody(sd.body), `${APP}workspace`), `${APP}collection`);
  const endpoint = child(
    collection,
    '{https://www.softwareheritage.org/schema/2018/deposit}resumableUploads',
  );
  const metadata = { filename: 'large.tar', filetype: 'application/x-tar' };
  const created = answered(t, await client.create(endpoint.text, largeTar.length, metadata), 201);
  const upload = headerOf(created, 'Location') ?? '';
  const half = largeTar.subarray(0, 600_000);
  answered(t, await client.patch(upload, 0, half), 204);
  t.is(await client.offset(upload), half.length);
  const rest = largeTar.subarray(half.length);
  answered(t, await client.patchWithChecksum(upload, half.length, rest), 204);
  const made = answered(t, await client.deposit(t.context.col, upload), 201);
  const edit = headerOf(made, 'Location') ?? '';
  const small = { filename: 'docs.tar', filetype: 'application/x-tar' };
  const another = headerOf(await client.create(endpoint.text, docsTar.length, small), 'Location') ?? '';
  answered(t, await client.patch(another, 0, docsTar), 204);
  answered(t, await client.deposit(linkOf(made.body, 'http://purl.org/net/sword/terms/add'), another), 201);
  t.deepEqual(await filesOf(t.context.alice, edit), ['large.tar', 'docs.tar']);
  const entry = [['Content-Type', 'application/atom+xml;type=entry']] as const;
  answered(t, await curl.data('POST', edit, entry, helloEntry), 201);
  await becomesDone(t, () => curl.ask('GET', linkOf(made.body, 'alternate')));
});
