import { hash } from 'node:crypto';
import anyTest, { type TestFn } from 'ava';
import { OPEN_ROUTES, ROUTES } from '../../src/http/route-table.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloForm,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';

const test = anyTest as TestFn<{ service: RunningService; alice: TestClient }>;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const TITLE = '<script>alert(1)</script>"&\u202e';

test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const title = TITLE.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const entry = entryXml(`<title>${title}</title><author><name>Ada</name></author>`);
  await alice.post('/1/software/', formOf([archivePart(), entryPart(entry)]), { ...formType, ...final });
  await alice.waitFor('/1/software/1/status/', 'done');
  t.context = { service, alice };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

const PAGES = [
  '/1/servicedocument/',
  '/1/software/',
  '/1/software/1/status/',
  '/1/software/1/metadata/',
  '/1/software/1/content/',
  '/1/software/1/history/',
  '/1/software/1/statement/',
  '/1/software/1/statement/rdf/',
  '/1/software/1/media/feed/',
  '/1/software/notifications/',
  '/health/live',
  '/health/ready',
  '/1/software/99/status/',
  '/',
  '/openapi.json',
];

test('a browser gets an HTML page without scripts, with the facts of the other formats', async (t) => {
  const { alice } = t.context;
  for (const path of PAGES) {
    const answer = await alice.get(path, { Accept: BROWSER });
    const page = await answer.text();
    t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8', path);
    t.regex(page, /^<!DOCTYPE html>\n<html lang="en">.*<main><h1>.*<\/main><\/body><\/html>\n$/s, path);
    t.notRegex(page, /<script|javascript:|\son\w+=/i, path);
    t.notRegex(page, /undefined|\[object/, path);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const policy = answer.headers.get('content-security-policy') ?? '';
    t.true(policy.includes(`style-src 'sha256-${hash('sha256', style, 'base64')}'`), path);
    t.true(policy.startsWith("default-src 'none';"), path);
    t.is(answer.headers.get('vary'), 'Accept', path);
  }
  const status = await (await alice.get('/1/software/1/status/', { Accept: BROWSER })).text();
  t.true(status.includes('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;\u202e'));
  t.regex(status, /<dt>Status<\/dt><dd><bdi>done<\/bdi><\/dd>/);
  t.regex(status, /<dt>SWHID<\/dt><dd><bdi>swh:1:dir:[0-9a-f]{40}<\/bdi><\/dd>/);
  const service = await (await alice.get('/1/servicedocument/', { Accept: BROWSER })).text();
  t.true(service.includes('<dt>Maximum unpacked size, in bytes</dt>'));
});

/** The routes that answer a browser with something else than a page, and why. */
const NO_PAGES: Readonly<Record<string, RegExp>> = {
  media: /^application\/zip$/, // the archive, for the person to save
  file: /^application\/zip$/,
  collectionEvents: /^text\/event-stream/, // for an EventSource
  events: /^text\/event-stream/,
};

test('every route answers a browser with a page, except archive bytes and event streams', async (t) => {
  const { alice } = t.context;
  const swhid = /swh:1:dir:[0-9a-f]{40}/.exec(await (await alice.get('/1/software/1/status/')).text())?.[0];
  const values = { collection: 'software', deposit: '1', file: '1', upload: 'none', swhid: swhid ?? '' };
  for (const [name, route] of Object.entries({ ...ROUTES, ...OPEN_ROUTES })) {
    const path = route.replaceAll(/[:*](\w+)/g, (_, key: keyof typeof values) => values[key]);
    for (const method of ['GET', 'HEAD', 'PROPFIND']) {
      const answer = await fetch(`${alice.url}${path}`, {
        method,
        headers: { Accept: BROWSER, Authorization: alice.authorization },
      });
      await answer.body?.cancel(); // a stream of events never ends
      const type = answer.headers.get('content-type') ?? '';
      const isOther = method !== 'PROPFIND' && NO_PAGES[name];
      t.regex(type, isOther || /^text\/html; charset=utf-8$/, `${method} ${path}`);
    }
  }
});

test('the description of all operations is a page with its own entity tag', async (t) => {
  const { alice } = t.context;
  const page = await alice.get('/openapi.json', { Accept: BROWSER });
  const text = await page.text();
  t.regex(text, /<h3><bdi>POST \/1\/\{collection\}\/<\/bdi><\/h3>/);
  t.regex(text, /<dd><bdi>In-Progress \(header\): /, 'a parameter shared by several operations');
  t.regex(text, /<dd><bdi>201: The receipt of the new deposit/);
  t.false(/\{(name|version|baseUrl|maxUploadSize)\}/.test(text), 'placeholders have values');
  const json = await alice.get('/openapi.json', { 'If-None-Match': page.headers.get('etag') ?? '' });
  t.is(json.status, 200, 'the entity tags of page and JSON differ');
});

test('only a client that prefers HTML to all XML and JSON types gets a page', async (t) => {
  const { alice } = t.context;
  const cases = [
    [undefined, 'application/xml'],
    ['*/*', 'application/xml'],
    ['text/html, */*', 'application/xml'],
    ['text/html, application/xml', 'application/xml'],
    ['text/html, application/json', 'application/json'],
    ['text/html;q=0.9, application/json', 'application/json'],
    ['text/html', 'text/html; charset=utf-8'],
    ['text/*', 'text/html; charset=utf-8'],
    ['text/html, application/json;q=0.9', 'text/html; charset=utf-8'],
    ['text/html;q=0, application/pdf', 'application/xml'],
  ] as const;
  for (const path of ['/1/software/1/status/', '/1/software/99/status/', '/1/software/'])
    for (const [accept, expected] of cases) {
      const answer = await alice.get(path, accept === undefined ? {} : { Accept: accept });
      await answer.text();
      t.is(answer.headers.get('content-type'), expected, `${path} ${accept}`);
    }
});

test('a page has its own entity tag, and XML a policy that allows the styles of viewers', async (t) => {
  const { alice } = t.context;
  const [page, xml] = [
    await alice.get('/1/software/1/status/', { Accept: BROWSER }),
    await alice.get('/1/software/1/status/'),
  ];
  await Promise.all([page.text(), xml.text()]);
  const tag = page.headers.get('etag') ?? '';
  t.regex(tag, /^"1-\d+-html"$/);
  t.not(xml.headers.get('etag'), tag);
  const again = { Accept: BROWSER, 'If-None-Match': tag };
  t.is((await alice.get('/1/software/1/status/', again)).status, 304);
  t.regex(
    xml.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'unsafe-inline';/,
  );
});

test('the resources that browsers and crawlers request on their own are public', async (t) => {
  const { service } = t.context;
  t.is((await fetch(`${service.url}/favicon.ico`)).status, 404);
  const robots = await fetch(`${service.url}/robots.txt`);
  t.deepEqual([robots.status, await robots.text()], [200, 'User-agent: *\nDisallow: /\n']);
  const written = await fetch(`${service.url}/robots.txt`, { method: 'DELETE' });
  t.is(written.headers.get('allow'), 'GET, HEAD, OPTIONS');
  await assertSwordError(t, written, 405, 'MethodNotAllowed');
  t.is((await fetch(`${service.url}/favicon.png`)).status, 401);
});

test('a page of another origin changes nothing with the credentials that a browser remembers', async (t) => {
  const { service } = t.context;
  const bob = await service.register('bob', { collections: ['software'] });
  const made = await bob.post('/1/software/', helloForm, { ...formType, ...partial });
  const edit = made.headers.get('Location') ?? '';
  const others = [
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.example' },
    { 'Sec-Fetch-Site': 'same-site', Origin: 'https://elsewhere.example' },
    { Origin: 'https://elsewhere.example' }, // browsers send no Sec-Fetch-Site to a URL without TLS
    { Origin: 'null' },
  ];
  for (const other of others) {
    t.is((await bob.post(edit, null, other)).status, 403, 'the form of a completion');
    t.is(
      (await bob.post('/1/software/', helloForm, { ...formType, ...other })).status,
      403,
      'the form of a deposit',
    );
    t.is((await bob.get(edit, other)).status, 200, 'a link may be followed');
  }
  t.regex(await (await bob.get(edit)).text(), /partial/);
  const own = [{ 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }, { Origin: service.url }];
  for (const headers of own)
    t.is((await bob.post('/1/software/', helloForm, { ...formType, ...partial, ...headers })).status, 201);
  t.is((await bob.post(edit, null)).status, 200, 'no browser');
});

test('a form of a page at the base URL may reach a service behind a proxy by another host name', async (t) => {
  await using service = await RunningService.start({ baseUrl: 'https://deposit.example/sword' });
  const bob = await service.register('bob', { collections: ['software'] });
  const of = (Origin: string) => bob.post('/1/software/', helloForm, { ...formType, ...partial, Origin });
  t.is((await of('https://deposit.example')).status, 201);
  t.is((await of('https://deposit.example:8443')).status, 403);
});
