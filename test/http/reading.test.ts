import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import StreamZip from 'node-stream-zip';
import { BINARY, SIMPLE_ZIP } from '../../src/sword/namespaces.ts';
import { APP, ATOM, child, DEPOSIT, parsedBody, SWORD, texts } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloForm,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  bob: TestClient;
  partialId: number;
  doneId: number;
};
const test = anyTest as TestFn<Context>;

test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software', 'papers'] });
  const bob = await service.register('bob', { collections: ['software', 'robots'] });
  const partialId = await created(alice, helloForm, partial);
  const doneId = await created(alice, helloForm, final);
  await alice.waitFor(`/1/software/${doneId}/status/`, 'done');
  t.context = { service, alice, bob, partialId, doneId };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function created(client: TestClient, body: Buffer, headers: Record<string, string>): Promise<number> {
  const answer = await client.post('/1/software/', body, { ...formType, ...headers });
  return Number(child(parsedBody(await answer.text()), `${DEPOSIT}deposit_id`).text);
}

test('the service document lists exactly the collections of the client', async (t) => {
  const { service, alice, bob } = t.context;
  for (const [client, names] of [
    [alice, ['software', 'papers']],
    [bob, ['software', 'robots']],
  ] as const) {
    const answer = await client.get('/1/servicedocument/');
    t.is(answer.status, 200);
    const document = parsedBody(await answer.text());
    t.is(document.name, `${APP}service`);
    const workspace = child(document, `${APP}workspace`);
    const collections = workspace.children.filter(({ name }) => name === `${APP}collection`);
    t.deepEqual(
      collections.map(({ attributes }) => attributes['href']),
      names.map((name) => `${service.url}/1/${name}/`),
    );
    t.deepEqual(
      collections.flatMap((one) => texts(one, `${SWORD}name`)),
      [...names],
    );
    t.is(child(document, `${SWORD}maxUploadSize`).text, '20971520');
  }
});

test('the status gets 201, and for a done deposit its identifiers under both names', async (t) => {
  const { alice, service, doneId } = t.context;
  const answer = await alice.get(`/1/software/${doneId}/status/`);
  t.is(answer.status, 201);
  t.is(answer.headers.get('retry-after'), null, 'no further change will follow');
  const entry = parsedBody(await answer.text());
  const identifier = child(entry, `${DEPOSIT}deposit_ref_id`).text;
  t.regex(identifier, /^swh:1:dir:[0-9a-f]{40}$/);
  const context = child(entry, `${DEPOSIT}deposit_ref_id_context`).text;
  const origin = `${service.url}/1/software/${doneId}/`;
  t.regex(
    context.replace(`origin=${origin}`, 'origin=here'),
    /^swh:1:dir:[0-9a-f]{40};origin=here;visit=swh:1:snp:[0-9a-f]{40};anchor=swh:1:rev:[0-9a-f]{40};path=\/$/,
  );
  t.true(context.startsWith(identifier));
  for (const [name, value] of [
    ['deposit_swh_id', identifier],
    ['deposit_swh_id_context', context],
  ] as const) {
    t.is(child(entry, `${DEPOSIT}${name}`).text, value);
    t.is(child(entry, `${ATOM}${name}`).text, value, 'the deprecated tag');
  }
});

test('a status that may still change has Retry-After', async (t) => {
  const { alice, partialId } = t.context;
  const answer = await alice.get(`/1/software/${partialId}/status/`);
  t.regex(answer.headers.get('retry-after') ?? '', /^\d+$/);
  const entry = parsedBody(await answer.text());
  t.is(child(entry, `${DEPOSIT}deposit_status`).text, 'partial');
  t.not(child(entry, `${DEPOSIT}deposit_status_detail`).text, '');
  t.deepEqual(texts(entry, `${DEPOSIT}deposit_ref_id`), []);
  const other = await alice.get(`/1/software/${partialId}/status/`, { 'If-Match': '"0-0"' });
  t.is(other.headers.get('retry-after'), null, 'of another revision');
  await assertSwordError(t, other, 412, 'ETagNotMatched');
});

test('the content of a deposit shows its date in human- and machine-readable form', async (t) => {
  const { alice, doneId } = t.context;
  const answer = await alice.get(`/1/software/${doneId}/content/`);
  t.is(answer.status, 200);
  const entry = parsedBody(await answer.text());
  for (const name of ['deposit_id', 'deposit_date', 'deposit_status', 'deposit_status_detail']) {
    t.is(child(entry, `${DEPOSIT}${name}`).text, child(entry, `${ATOM}${name}`).text, name);
  }
  t.is(child(entry, `${DEPOSIT}deposit_status`).text, 'done');
  t.regex(
    child(entry, `${DEPOSIT}deposit_date`).text,
    /^[A-Z][a-z]+\.? \d{1,2}, \d{4}, \d{1,2}:\d\d [ap]\.m\.$/,
  );
  t.regex(child(entry, `${ATOM}updated`).text, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('the Edit-IRI returns the receipt, also as atom/', async (t) => {
  const { alice, partialId } = t.context;
  const answers = await Promise.all(
    ['metadata/', 'atom/'].map((end) => alice.get(`/1/software/${partialId}/${end}`)),
  );
  const [receipt, again] = await Promise.all(answers.map((answer) => answer.text()));
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.is(receipt, again);
  t.is(child(parsedBody(receipt ?? ''), `${DEPOSIT}deposit_archive`).text, 'hello.zip');
});

test('the EM-IRI returns one archive byte for byte', async (t) => {
  const { alice, doneId } = t.context;
  const answer = await alice.get(`/1/software/${doneId}/media/`);
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/zip');
  t.is(answer.headers.get('content-disposition'), 'attachment; filename="hello.zip"');
  t.is(answer.headers.get('content-length'), String(helloZip.length));
  t.deepEqual(Buffer.from(await answer.arrayBuffer()), helloZip);
});

test('the EM-IRI returns several archives as a zip, with distinct names for equal ones', async (t) => {
  const { alice } = t.context;
  const id = await created(alice, formOf([archivePart()]), partial);
  const media = `/1/software/${id}/media/`;
  await alice.post(media, helloTar, archiveHeaders('C:drive.tar', 'application/x-tar'));
  await alice.post(media, helloTar, archiveHeaders('hello.zip', 'application/x-tar'));
  const answer = await alice.get(media);
  t.is(answer.headers.get('content-type'), 'application/zip');
  t.is(answer.headers.get('content-disposition'), `attachment; filename="deposit-${id}.zip"`);
  const members = await membersOf(Buffer.from(await answer.arrayBuffer()));
  t.deepEqual([...members.keys()], ['hello.zip', 'C_drive.tar', '2-hello.zip']);
  t.deepEqual([...members.values()], [helloZip, helloTar, helloTar]);
});

test('the entity tag of the archive matches neither the zip nor the list at the same IRI', async (t) => {
  const { alice } = t.context;
  const form = formOf([archivePart(helloTar, 'hello.tar', 'application/x-tar')]);
  const media = `/1/software/${await created(alice, form, partial)}/media/`;
  const kinds = [{}, { 'Accept-Packaging': SIMPLE_ZIP }, { Accept: 'application/atom+xml' }];
  const tags = await Promise.all(
    kinds.map(async (kind) => (await alice.get(media, kind)).headers.get('etag') ?? ''),
  );
  t.is(new Set(tags).size, 3, tags.join());
  for (const kind of kinds) {
    const held = tags.map((tag) => alice.get(media, { ...kind, 'If-None-Match': tag }));
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    t.deepEqual(
      statuses,
      kinds.map((other) => (other === kind ? 304 : 200)),
    );
  }
  t.is(
    (await alice.delete(media, { 'If-Match': tags[1] ?? '' })).status,
    204,
    'of the deposit in its present state',
  );
});

test('an archive is returned with the type of its bytes, whatever its declared type was', async (t) => {
  const { alice } = t.context;
  const cases = [
    [helloTar, 'application/zip', 'application/x-tar', BINARY],
    [helloZip, 'application/x-tar', 'application/zip', SIMPLE_ZIP],
  ] as const;
  for (const [bytes, label, type, packaging] of cases) {
    const headers = { ...archiveHeaders('hello', label), ...partial };
    const made = await alice.post('/1/software/', bytes, headers);
    const edit = new URL(made.headers.get('location') ?? '').pathname;
    const answer = await alice.get(edit.replace('metadata/', 'media/'));
    t.is(answer.headers.get('content-type'), type);
    t.is(answer.headers.get('packaging'), packaging);
    t.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
    const statement = await (await alice.get(edit.replace('metadata/', 'statement/'))).text();
    t.true(statement.includes(`<sword:packaging>${packaging}<`), statement);
  }
});

test('each format has its own entity tag for reads, and any of them is valid for writes', async (t) => {
  const { alice } = t.context;
  const deposit = `/1/software/${await created(alice, helloForm, partial)}/`;
  const [xml, json, rdf] = ['application/xml', 'application/json', 'application/rdf+xml'] as const;
  const formats = { metadata: [xml, json], status: [xml, json], content: [xml, json], history: [xml, json] };
  for (const [end, types] of Object.entries({ ...formats, statement: [xml, json, rdf] })) {
    const answers = types.map((type) => alice.get(`${deposit}${end}/`, { Accept: type }));
    const tags = (await Promise.all(answers)).map(({ headers }) => headers.get('etag') ?? '');
    t.is(new Set(tags).size, types.length, `${end}: ${tags.join()}`);
    for (const type of types) {
      const held = tags.map((tag) => alice.get(`${deposit}${end}/`, { Accept: type, 'If-None-Match': tag }));
      const statuses = (await Promise.all(held)).map(({ status }) => status);
      t.deepEqual(
        statuses,
        types.map((other) => (other === type ? 304 : end === 'status' ? 201 : 200)),
        `${end} as ${type}`,
      );
    }
    const [held = ''] = tags.slice(-1);
    const refused = await alice.put(`${deposit}metadata/`, entryXml('<title>Paint</title>'), {
      ...entryHeaders(),
      'If-None-Match': held,
    });
    t.is(refused.status, 412, 'the deposit is the same one');
    if (end !== 'statement') continue;
    for (const tag of [held, held.replace(/-rdf"$/, '"')]) {
      const changed = await alice.put(`${deposit}metadata/`, entryXml('<title>Paint</title>'), {
        ...entryHeaders(),
        ...partial,
        'If-Match': tag,
      });
      t.is(changed.status, tag === held ? 204 : 412, tag);
    }
  }
});

test('a conditional read of a receipt gets the new one after the settings of its collection change', async (t) => {
  const { service, alice } = t.context;
  const made = await alice.post('/1/papers/', helloZip, { ...archiveHeaders(), ...partial });
  const iri = new URL(made.headers.get('location') ?? '').pathname;
  const etag = (await alice.get(iri)).headers.get('etag') ?? '';
  t.is((await alice.get(iri, { 'If-None-Match': etag })).status, 304);
  const [treatment, title, abstract] = ['It is kept on stone.', 'Papers', 'Sources'];
  const described = { collection: 'papers', title, abstract, treatment };
  await service.administration.collection({ type: 'DescribeCollection', ...described });
  await until(async () => (await (await alice.get(iri)).text()).includes(treatment));
  const again = await alice.get(iri, { 'If-None-Match': etag });
  t.is(again.status, 200);
  t.is(again.headers.get('etag'), etag, 'of the deposit, for If-Match');
});

async function membersOf(zip: Buffer): Promise<Map<string, Buffer>> {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'media-'));
  const file = path.join(folder.path, 'media.zip');
  await writeFile(file, zip);
  const reader = new StreamZip.async({ file });
  const members = new Map<string, Buffer>();
  for (const name of Object.keys(await reader.entries())) members.set(name, await reader.entryData(name));
  await reader.close();
  return members;
}

test('HEAD is answered like GET, without the body', async (t) => {
  const { alice, doneId } = t.context;
  const paths = [
    'servicedocument/',
    ...['metadata/', 'media/', 'status/', 'content/'].map((end) => `software/${doneId}/${end}`),
  ];
  for (const target of paths) {
    const [get, head] = [await alice.get(`/1/${target}`), await alice.send('HEAD', `/1/${target}`)];
    t.is(head.status, get.status, target);
    t.is(await head.text(), '');
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'content-disposition']) {
      t.is(head.headers.get(name), get.headers.get(name), `${name} of ${target}`);
    }
    await get.arrayBuffer();
  }
  const missing = await alice.send('HEAD', '/1/software/999999/status/');
  t.is(missing.status, 404);
  t.is(await missing.text(), '');
});

test('OPTIONS lists the methods allowed in the current state of the resource', async (t) => {
  const { alice, partialId, doneId } = t.context;
  const everything = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
  const expected = [
    ['/1/servicedocument/', 'GET, HEAD, OPTIONS'],
    ['/1/software/', 'GET, HEAD, POST, OPTIONS'],
    [`/1/software/${partialId}/metadata/`, everything],
    [`/1/software/${partialId}/atom/`, everything],
    [`/1/software/${partialId}/media/`, everything],
    [`/1/software/${partialId}/status/`, 'GET, HEAD, OPTIONS'],
    [`/1/software/${partialId}/content/`, 'GET, HEAD, OPTIONS'],
    [`/1/software/${doneId}/metadata/`, 'GET, HEAD, PUT, OPTIONS'],
    [`/1/software/${doneId}/media/`, 'GET, HEAD, OPTIONS'],
  ] as const;
  for (const [target, allow] of expected) {
    const answer = await alice.send('OPTIONS', target);
    t.is(answer.status, 204, target);
    t.is(answer.headers.get('allow'), allow, target);
  }
  await assertSwordError(t, await alice.send('OPTIONS', '/1/software/999999/status/'), 404, 'NotFound');
});

test('an unsupported method is refused with the allowed ones', async (t) => {
  const { alice, partialId } = t.context;
  const cases = [
    ['POST', '/1/servicedocument/', 'GET, HEAD, OPTIONS'],
    ['PUT', '/1/software/', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/1/software/', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', `/1/software/${partialId}/status/`, 'GET, HEAD, OPTIONS'],
    ['DELETE', `/1/software/${partialId}/content/`, 'GET, HEAD, OPTIONS'],
    ['PATCH', `/1/software/${partialId}/metadata/`, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    ['PROPFIND', `/1/software/${partialId}/media/`, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
  ] as const;
  for (const [method, target, allow] of cases) {
    const answer = await alice.send(method, target);
    await assertSwordError(t, answer, 405, 'MethodNotAllowed', `${method} ${target}`);
    t.is(answer.headers.get('allow'), allow, `${method} ${target}`);
  }
});

test('a path is served with and without a trailing slash, and is case-sensitive', async (t) => {
  const { alice, partialId } = t.context;
  for (const target of [
    'servicedocument',
    `software/${partialId}/metadata`,
    `software/${partialId}/status`,
  ]) {
    const [bare, slashed] = [await alice.get(`/1/${target}`), await alice.get(`/1/${target}/`)];
    t.deepEqual([bare.status, await bare.text()], [slashed.status, await slashed.text()], target);
  }
  await assertSwordError(t, await alice.get('/1/software/1/STATUS/'), 404, 'NotFound');
  await assertSwordError(t, await alice.post('/1/Software/', null), 404, 'NotFound');
});

test('a deposit of another client, or under another collection, is not found', async (t) => {
  const { alice, bob, partialId } = t.context;
  for (const end of ['metadata/', 'atom/', 'media/', 'status/', 'content/']) {
    const others = await bob.get(`/1/software/${partialId}/${end}`);
    const unknown = await bob.get(`/1/software/999999/${end}`);
    const elsewhere = await alice.get(`/1/papers/${partialId}/${end}`);
    const [first, second] = [
      await assertSwordError(t, others, 404, 'NotFound', end),
      await assertSwordError(t, unknown, 404, 'NotFound', end),
    ];
    t.is(
      first.replace(String(partialId), 'ID'),
      second.replace('999999', 'ID'),
      'the responses are identical',
    );
    await assertSwordError(t, elsewhere, 404, 'NotFound', end);
  }
  await assertSwordError(t, await bob.delete(`/1/software/${partialId}/metadata/`), 404, 'NotFound');
  t.is((await alice.get(`/1/software/${partialId}/status/`)).status, 201, 'and it still exists');
});

test('a collection without a grant is answered like an unknown one', async (t) => {
  const { alice, bob } = t.context;
  const [foreign, unknown] = await Promise.all(
    ['papers', 'nowhere'].map((name) => bob.post(`/1/${name}/`, helloForm, { ...formType })),
  );
  const summaries = [
    await assertSwordError(t, foreign as Response, 404, 'NotFound'),
    await assertSwordError(t, unknown as Response, 404, 'NotFound'),
  ];
  t.is(summaries[0]?.replace('papers', 'X'), summaries[1]?.replace('nowhere', 'X'));
  await assertSwordError(t, await alice.get('/1/robots/1/status/'), 404, 'NotFound');
});

test('a deposit number has only digits and no leading zero', async (t) => {
  const { alice } = t.context;
  const ids = [
    '0',
    '01',
    '+1',
    '-1',
    '1.0',
    '1e0',
    '0x1',
    'abc',
    '1%2f',
    '1%00',
    '%20 1',
    '9007199254740993',
    '1'.repeat(400),
  ];
  for (const id of ids) {
    await assertSwordError(t, await alice.get(`/1/software/${id}/status/`), 404, 'NotFound', id);
  }
});

test('an unknown path gets a SWORD error, also with invalid percent-encoding', async (t) => {
  const { alice } = t.context;
  for (const target of [
    '/index.html',
    '/1/',
    '/2/software/',
    '/1/software/1/',
    '/1/software/1/other/',
    '/1/software/1/status/x',
    '/favicon.ico',
  ]) {
    await assertSwordError(t, await alice.get(target), 404, 'NotFound', target);
  }
  for (const target of ['/1/%E0%A4%A/', '/1/%zz/', '/1/%ff%fe/', '/1/%2e%2e%2fsoftware/']) {
    await assertSwordError(t, await alice.post(target, null), 404, 'NotFound', target);
  }
  const echoed = await alice.post('/1/%3Cb%3E&amp;%00%0b/', null);
  await assertSwordError(t, echoed, 404, 'NotFound', 'echoed text is escaped');
});

test('the media type is negotiated, and XML is never refused', async (t) => {
  const { alice, partialId } = t.context;
  const cases = [
    ['application/atom+xml', 'application/atom+xml'],
    ['application/atom+xml;type=entry', 'application/atom+xml;type=entry'],
    ['application/atomsvc+xml, */*;q=0.1', 'application/atomsvc+xml'],
    ['text/css, image/*', 'application/xml'],
    ['application/json;q=0.1, application/xml', 'application/xml'],
    ['*/*', 'application/xml'],
    ['application/json', 'application/json'],
  ] as const;
  for (const end of [
    'servicedocument/',
    ...['metadata/', 'status/', 'content/'].map((last) => `software/${partialId}/${last}`),
  ]) {
    for (const [accept, expected] of cases) {
      const answer = await alice.get(`/1/${end}`, { Accept: accept });
      t.is(answer.headers.get('content-type'), expected, `${end} ${accept}`);
      t.is(answer.headers.get('vary'), 'Accept');
      const body = await answer.text();
      if (expected === 'application/json') t.notThrows(() => JSON.parse(body));
      else t.notThrows(() => parsedBody(body), body);
    }
  }
  const answer = await alice.get(`/1/software/${partialId}/status/`, { Accept: 'application/json' });
  t.like(await answer.json(), { deposit_id: partialId, deposit_status: 'partial' });
});

test('a read with a current entity tag gets 304', async (t) => {
  const { alice, partialId } = t.context;
  for (const end of ['metadata/', 'media/', 'status/', 'content/']) {
    const target = `/1/software/${partialId}/${end}`;
    const tag = (await alice.get(target)).headers.get('etag') ?? '';
    t.regex(tag, new RegExp(`^"${partialId}-\\d+${end === 'media/' ? '' : '-xml'}"$`));
    const same = await alice.get(target, { 'If-None-Match': tag });
    t.deepEqual([same.status, await same.text(), same.headers.get('etag')], [304, '', tag], end);
    const other = await alice.get(target, { 'If-None-Match': `"${partialId}-99"` });
    t.not(other.status, 304, end);
    await other.arrayBuffer();
  }
});

test('On-Behalf-Of is ignored on reads', async (t) => {
  const { alice, partialId } = t.context;
  const answer = await alice.get(`/1/software/${partialId}/status/`, { 'On-Behalf-Of': 'carol' });
  t.is(answer.status, 201);
});

test('responses to authenticated requests have no-store and nosniff', async (t) => {
  const { alice, doneId } = t.context;
  for (const target of [
    '/1/servicedocument/',
    `/1/software/${doneId}/media/`,
    '/1/software/999999/status/',
    '/nowhere',
  ]) {
    const { headers } = await alice.get(target);
    t.is(headers.get('cache-control'), 'no-store', target);
    t.is(headers.get('x-content-type-options'), 'nosniff');
    t.regex(headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    t.is(headers.get('x-powered-by'), null);
    t.is(headers.get('access-control-allow-origin'), null);
  }
});

test('health is public and reports ready once the views have caught up', async (t) => {
  const { url } = t.context.service;
  await until(async () => (await fetch(`${url}/health/ready`)).ok); // on a busy machine a check of the disk may take too long
  for (const [state, facts] of Object.entries({ live: {}, ready: { parked: 0 } })) {
    const answer = await fetch(`${url}/health/${state}`);
    t.is(answer.status, 200);
    t.deepEqual(await answer.json(), { status: state, ...facts });
    const refused = await fetch(`${url}/health/${state}`, { method: 'POST' });
    t.is(refused.headers.get('allow'), 'GET, HEAD');
    await assertSwordError(t, refused, 405, 'MethodNotAllowed');
  }
  t.is((await fetch(`${url}/health/other`)).status, 401);
});

test('IRIs have the configured base URL, with any Host header', async (t) => {
  await using service = await RunningService.start({ baseUrl: 'https://deposit.example/archive' });
  const carol = await service.register('carol', { collections: ['software'] });
  const answer = await carol.post('/1/software/', formOf([entryPart()]), { ...formType, ...partial });
  t.is(answer.headers.get('location'), 'https://deposit.example/archive/1/software/1/metadata/');
  const receipt = parsedBody(await answer.text());
  const links = receipt.children.filter(({ name }) => name === `${ATOM}link`);
  t.true(
    links.every(({ attributes }) =>
      attributes['href']?.startsWith('https://deposit.example/archive/1/software/1/'),
    ),
  );
});
