import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { AlteringProxy } from '../../testing/http/altering-proxy.ts';
import { helloTar } from '../../testing/http/deposit-bodies.ts';
import { type Facts } from '../../testing/processes/deposit-command.ts';
import { depositDone } from './known-deposits.ts';
import { listening } from './listening-server.ts';
import { testOfCommands } from './test-of-commands.ts';

const test = testOfCommands();

test('list fails with a message if the server does not list deposits', async (t) => {
  const { depositor, service } = t.context;
  await using old = await AlteringProxy.start(service.url, (answer, line) =>
    line.startsWith('GET /1/software/') ? { ...answer, status: 405, body: '' } : answer,
  );
  const { code, err } = await depositor.run(['list'], { env: { SWORD_SERVER: old.url } });
  t.is(code, 1);
  t.regex(err, /^The server does not list deposits: it does not support GET .*\.$/m);
});

test('no dry run is sent to a server that does not announce them, since it would create the deposit', async (t) => {
  const { depositor, service } = t.context;
  await using other = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/<(\w+:)?dryRun>[^<]*<[^>]*>/g, ''),
  }));
  await writeFile(path.join(t.context.home, 'tried.tar'), helloTar);
  const args = ['upload', 'tried.tar', '--name', 'Paint', '--author', 'Ada', '--dry-run'];
  const { code, err } = await depositor.run(args, { env: { SWORD_SERVER: other.url } });
  t.is(code, 1);
  t.regex(err, /^The server has no dry runs in software\. Nothing was sent\.$/m);
  t.deepEqual(
    other.requests.filter((line) => line.startsWith('POST')),
    [],
  );
});

test('a server with other prefixes and without a receipt on GET is supported', async (t) => {
  const { depositor, service } = t.context;
  const id = await depositDone(t.context.alice);
  await using other = await AlteringProxy.start(service.url, (answer, line) => {
    if (line.endsWith('/metadata/')) return { ...answer, status: 405, body: '' };
    const renamed = answer.body
      .replaceAll(/<(\/?)deposit_\w+>[^<]*(<\/deposit_\w+>)?/g, '')
      .replaceAll('depositns:', 'd:')
      .replaceAll('xmlns:depositns=', 'xmlns:d=');
    return { ...answer, body: renamed };
  });
  const facts = await depositor.facts(['status', id], { env: { SWORD_SERVER: other.url } });
  t.like(facts, { deposit: Number(id), status: 'done' });
});

test('a download that differs from the announced digest or from the deposit is detected', async (t) => {
  const { depositor, service, home } = t.context;
  const id = await depositDone(t.context.alice, helloTar, 'true.tar');
  const other = tarOf([{ name: 'hello/hello.py', data: 'print("other")\n' }]).toString();
  const env = (proxy: AlteringProxy) => ({ env: { SWORD_SERVER: proxy.url } });
  for (const header of [
    { 'content-md5': '0'.repeat(32) },
    { 'content-digest': 'unknown=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' },
  ]) {
    await using lying = await AlteringProxy.start(service.url, (answer, line) =>
      line.endsWith('/media/') ? { ...answer, headers: { ...answer.headers, ...header } } : answer,
    );
    const { code, err } = await depositor.run(['fetch', id, '--output', 'lie.tar'], env(lying));
    t.is(code, 1);
    t.regex(err, /^The download is corrupt: the server announced content-/m);
  }
  await using swapping = await AlteringProxy.start(service.url, (answer, line) =>
    line.endsWith('/media/') ? { ...answer, headers: {}, body: other } : answer,
  );
  const swapped = await depositor.run(['fetch', id, '--output', 'swapped.tar'], env(swapping));
  t.is(swapped.code, 4);
  t.regex(swapped.out, /The identifier does NOT match the deposit/);
  await t.throwsAsync(readFile(path.join(home, 'lie.tar')));
});

test('an identifier that differs from the locally computed one has its own exit code', async (t) => {
  const { depositor, service, home } = t.context;
  await writeFile(path.join(home, 'mine.tar'), helloTar);
  await using wrong = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/swh:1:dir:[0-9a-f]{40}/g, `swh:1:dir:${'0'.repeat(40)}`),
  }));
  const upload = ['upload', 'mine.tar', '--name', 'Mine', '--author', 'Me', '--wait'];
  const { code, out } = await depositor.run(upload, { env: { SWORD_SERVER: wrong.url } });
  t.is(code, 4);
  t.regex(out, /The identifier DIFFERS from the one computed here: swh:1:dir:[0-9a-f]*[1-9a-f]/);
});

test('an unreachable server has its own exit code, and a server without SWORD an error message', async (t) => {
  const { depositor, service } = t.context;
  const refused = await depositor.run(['list', '--server', 'http://127.0.0.1:1']);
  t.deepEqual([refused.code, refused.out], [5, '']);
  t.regex(refused.err, /^The server at http:\/\/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/);
  await using captive = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: '<!DOCTYPE html><html/>',
  }));
  const { code, results } = await depositor.json(['list', '--server', captive.url]);
  t.is(code, 1);
  const { error } = results[0] as { error: Facts };
  t.regex(String(error['message']), /cannot be read: it has a DOCTYPE, which is not allowed/);
});

test('a first request whose response is lost is retried', async (t) => {
  let lost = 0;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer) =>
    lost++ === 0 ? 'lost' : answer,
  );
  const { code, err } = await t.context.depositor.run(['list', '--server', proxy.url]);
  t.is(code, 0, err);
  t.regex(err, /^Connection lost \(socket hang up\); retrying\.$/m);
});

test('a request to a server that is not ready is retried', async (t) => {
  let refusals = 2;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer) =>
    refusals-- > 0 ? { ...answer, status: 503, body: '' } : answer,
  );
  const { code, err } = await t.context.depositor.run(['list', '--server', proxy.url]);
  t.is(code, 0);
  t.is(err.match(/Server not ready \(503\); retrying\./g)?.length, 2);
});

test('a request that is refused as one of too many is retried, not before Retry-After, which may be a date', async (t) => {
  const { depositor, service } = t.context;
  let refusals = 1;
  await using limiting = await AlteringProxy.start(service.url, (answer) =>
    refusals-- > 0 ? { status: 429, headers: { 'retry-after': '1' }, body: '' } : answer,
  );
  const later = await depositor.run(['list', '--server', limiting.url]);
  t.is(later.code, 0, later.err);
  t.regex(later.err, /^Server not ready \(429\); retrying\.$/m);
  const yesterday = Date.now() - 24 * 3_600_000; // the clock of the server is wrong
  const [date, retryAfter] = [yesterday, yesterday + 3_600_000].map((time) => new Date(time).toUTCString());
  await using closed = await AlteringProxy.start(service.url, () => ({
    status: 503,
    headers: { date: String(date), 'retry-after': String(retryAfter) },
    body: '',
  }));
  const { code, err } = await depositor.run(['list', '--server', closed.url, '--timeout', '60']);
  t.is(code, 5);
  t.regex(err, /^The server is not ready: 503\.$/m);
  t.is(closed.requests.length, 1);
});

const isProxied = Number(process.versions.node.split('.', 1)) >= 24; // TESTED_CLIENT_NODE may be older
(isProxied && !process.env['TESTED_CLIENT_NODE'] ? test : test.skip)(
  'the proxy of the environment is used for other machines, and never for this one',
  async (t) => {
    const { depositor, service } = t.context;
    const server = 'http://deposit.invalid';
    await writeFile(path.join(t.context.home, 'proxied.tar'), helloTar);
    await using proxy: AlteringProxy = await AlteringProxy.start(service.url, (answer) => {
      const named = JSON.stringify(answer).replaceAll(proxy.url, server);
      return JSON.parse(named) as typeof answer;
    });
    const env = { HTTP_PROXY: proxy.url };
    const args = ['upload', 'proxied.tar', '--name', 'Paint', '--author', 'Ada', '--wait'];
    const { code, err } = await depositor.run([...args, '--server', server], { env });
    t.is(code, 0, err);
    t.true(proxy.requests.includes(`POST ${server}/1/software/`), proxy.requests.join('\n'));
    const before = proxy.requests.length;
    const local = await depositor.run(['list'], { env });
    t.deepEqual([local.code, proxy.requests.length], [0, before]);
    const bare = await depositor.run(['list', '--server', server], {
      env: { HTTP_PROXY: proxy.url.slice(7) },
    });
    t.is(bare.code, 0, bare.err);
    t.true(proxy.requests.length > before);
    const wrong = await depositor.run(['list', '--server', server], {
      env: { HTTP_PROXY: 'socks5://me:hunter2@127.0.0.1:1' },
    });
    t.is(wrong.code, 2);
    t.regex(wrong.err, /^HTTP_PROXY is not the address of a proxy: write it as http:\/\/host:port\/\.$/m);
    t.notRegex(wrong.err, /hunter2/);
  },
);

test('a password is sent only to the named server', async (t) => {
  const { depositor, service } = t.context;
  await using elsewhere = await AlteringProxy.start(service.url, (answer) => answer);
  await using leading = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, elsewhere.url),
  }));
  const { code, err } = await depositor.run(['list', '--server', leading.url]);
  t.is(code, 1);
  t.regex(err, /refers to another server, .*, which does not get the password/);
  const named = await depositor.run(['status', `${elsewhere.url}/1/software/1/metadata/`]);
  t.is(named.code, 2);
  t.regex(
    named.err,
    /^http.*\/1\/metadata\/ is not on http.*: give the server of the deposit as --server\.$/m,
  );
  t.deepEqual(elsewhere.requests, []);
  await using moved = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    status: 301,
    headers: { location: elsewhere.url },
  }));
  const redirected = await depositor.run(['list', '--server', moved.url]);
  t.regex(redirected.err, /was redirected \(301\) to .* Redirects are not followed with a password/);
  t.deepEqual(elsewhere.requests, []);
});

type Foreign = {
  /** Answers the request that makes the deposit. */
  readonly created: (base: string) => { readonly body: string; readonly location: boolean | string };
  /** Receipt at the Edit-IRI, if there is one. */
  readonly receipt?: (base: string) => string;
  readonly acceptsForms?: boolean;
};

const ATOM = 'xmlns="http://www.w3.org/2005/Atom"';
const receiptLinks = (base: string) => `
  <link rel="edit" href="${base}/sword/edit/77"/><link rel="edit-media" href="${base}/sword/em/77"/>
  <link rel="http://purl.org/net/sword/terms/add" href="${base}/sword/edit/77"/>
  <link rel="http://purl.org/net/sword/terms/statement" type="application/rdf+xml" href="${base}/sword/st/77.rdf"/>
  <link rel="http://purl.org/net/sword/terms/statement" type="application/atom+xml;type=feed" href="${base}/sword/st/77"/>`;
const foreignReceipt = (base: string) => `<entry ${ATOM}><title>Seven</title>${receiptLinks(base)}</entry>`;

/** A SWORD 2.0 server of another kind: with addresses of its own, no numbers, no status, no forms. */
async function foreignServer({ created, receipt, acceptsForms = false }: Foreign) {
  const requests: string[] = [];
  const bodies: string[] = [];
  let base = '';
  const answers = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const line = `${request.method} ${request.url}`;
    requests.push(`${line} ${(request.headers['content-type'] ?? '').split(';')[0]}`.trim());
    const body = await text(request);
    const send = (status: number, xml: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(xml);
    if (line === 'GET /sword/sd?type=2') {
      send(
        200,
        `<service xmlns="http://www.w3.org/2007/app"><workspace><collection href="${base}/sword/col/9">
        <accept>*/*</accept><accept alternate="multipart-related">*/*</accept></collection></workspace></service>`,
      );
    } else if (line === 'POST /sword/col/9') {
      bodies.push(body);
      const isForm = (request.headers['content-type'] ?? '').startsWith('multipart/form-data');
      if (isForm !== acceptsForms) return void send(415, '');
      const answer = created(base);
      const location = answer.location === true ? `${base}/sword/edit/77` : answer.location;
      send(201, answer.body, location === false ? {} : { location });
    } else if (line === 'GET /sword/edit/77' && receipt) send(200, receipt(base));
    else if (line === 'GET /sword/st/77') {
      send(
        200,
        `<feed ${ATOM}><title>Seven</title><category scheme="http://purl.org/net/sword/terms/state"
        term="http://other.example/state/in-review" label="State">An editor looks at it.</category></feed>`,
      );
    } else if (line === 'GET /page/77') response.end('<!DOCTYPE html><html><p>A page for people</html>');
    else if (line === 'GET /login/77') response.writeHead(302, { location: '/login' }).end();
    else send(404, '');
  };
  const server = await listening((request, response) => void answers(request, response));
  base = server.url;
  return { ...server, requests, bodies, sd: `${base}/sword/sd?type=2` };
}

const seven = ['upload', 'mine.tar', '--name', 'Seven', '--author', 'Me', '--wait'];
const forms: Record<string, Foreign> = {
  'a receipt without alternate': { created: (base) => ({ body: foreignReceipt(base), location: true }) },
  'an alternate link to a page for people': {
    created: (base) => ({
      body: foreignReceipt(base).replace('<title>', `<link rel="alternate" href="${base}/page/77"/><title>`),
      location: true,
    }),
  },
  'an alternate link to a page behind a login': {
    created: (base) => ({
      body: foreignReceipt(base).replace('<title>', `<link rel="alternate" href="${base}/login/77"/><title>`),
      location: true,
    }),
  },
  'a location alone': { created: () => ({ body: '', location: true }), receipt: foreignReceipt },
  'forms alone': { created: (base) => ({ body: foreignReceipt(base), location: true }), acceptsForms: true },
};
for (const [name, form] of Object.entries(forms)) {
  test(`another SWORD 2.0 server, with ${name}, gets a deposit at the given service document`, async (t) => {
    await writeFile(path.join(t.context.home, 'mine.tar'), helloTar);
    await using server = await foreignServer(form);
    const { code, results } = await t.context.depositor.json([...seven, '--server', server.sd]);
    t.is(code, 0, JSON.stringify(results));
    t.like(results[0], {
      deposit: `${server.url}/sword/edit/77`,
      status: 'in-review',
      detail: 'An editor looks at it.',
    });
    const types = server.requests.filter((line) => line.startsWith('POST')).map((line) => line.split(' ')[2]);
    const expected = ['multipart/related', ...(form.acceptsForms ? ['multipart/form-data'] : [])];
    t.deepEqual(types, expected);
    t.regex(
      server.bodies[0] ?? '',
      /name="atom"[^]*<title>Seven<\/title>[^]*name="payload"; filename="mine\.tar"/,
    );
    if (!form.receipt) return;
    const iri = `${server.url}/sword/edit/77`;
    t.like(await t.context.depositor.facts(['status', iri, '--server', server.sd]), { status: 'in-review' });
  });
}

for (const [status, exitCode] of [
  [429, 5],
  [500, 1],
  [502, 5],
  [503, 5],
] as const)
  test(`a status that is answered ${status} is not read from the Statement, which does not say what is final`, async (t) => {
    const { alice, depositor, service, home } = t.context;
    await using failing = await AlteringProxy.start(service.url, (answer, line) =>
      /^GET .*\/status\/$/.test(line) ? { status, headers: { 'retry-after': '600' }, body: '' } : answer,
    );
    const file = `status-${status}.tar`;
    await writeFile(path.join(home, file), helloTar);
    const id = await depositDone(alice, helloTar, file);
    for (const command of [
      ['status', id, '--wait'],
      ['fetch', id],
      ['upload', file, '--name', 'Paint', '--author', 'Ada', '--wait'],
    ]) {
      const { code, err } = await depositor.run([...command, '--server', failing.url]);
      t.is(code, exitCode, err);
      t.regex(err, new RegExp(`^The server (?:refused|is not ready): ${status}\\.$`, 'm'));
    }
  });

test('a fetch and a history that fail name their deposit', async (t) => {
  const { alice, depositor, service } = t.context;
  const id = await depositDone(alice);
  await using failing = await AlteringProxy.start(service.url, (answer, line) =>
    /\/(?:media|history)\/$/.test(line) ? { status: 500, headers: {}, body: '' } : answer,
  );
  for (const command of ['fetch', 'history']) {
    const { code, results } = await depositor.json([command, id, '--server', failing.url]);
    t.is(code, 1);
    t.like((results[0] as { error: Facts }).error, { status: 500, deposit: Number(id) }, command);
  }
});

test('a deposit with an unreadable receipt is named in the error', async (t) => {
  await writeFile(path.join(t.context.home, 'mine.tar'), helloTar);
  const unknown = /^The deposit was created, but its receipt cannot be read: .* Find it with deposit list\.$/;
  for (const [body, location, message] of [
    ['<entry>', true, /404/],
    ['', false, unknown],
    ['<entry/>', 'http://[', unknown],
  ] as const) {
    await using server = await foreignServer({ created: () => ({ body, location }) });
    const { code, results } = await t.context.depositor.json([...seven, '--server', server.sd]);
    t.is(code, 1);
    const { error } = results[0] as { error: Facts };
    t.regex(String(error['message']), message);
    t.is(error['deposit'], location === true ? `${server.url}/sword/edit/77` : null);
    t.is(server.requests.filter((line) => line.startsWith('POST')).length, 1);
  }
});

test('this service accepts the requests that the client sends to other servers', async (t) => {
  const { depositor, service, home } = t.context;
  await writeFile(path.join(home, 'mine.tar'), helloTar);
  await using plain = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll('idempotencyKey', 'unknown'),
  }));
  const facts = await depositor.facts([...seven, '--server', plain.url]);
  t.like(facts, { status: 'done', swhidAgrees: true });
});
