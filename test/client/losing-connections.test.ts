import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { type Alteration, AlteringProxy, type Answer } from '../../testing/http/altering-proxy.ts';
import { helloTar } from '../../testing/http/deposit-bodies.ts';
import type { Facts } from '../../testing/processes/deposit-command.ts';
import { outcomeOf } from '../../testing/processes/run-script.ts';
import { until } from '../../testing/processes/until.ts';
import { listening } from './listening-server.ts';
import { newDepositor as depositorOn, depositsOf } from './many-depositors.ts';
import { type CommandContext, testOfCommands } from './test-of-commands.ts';

const described = ['--name', 'Paint', '--author', 'Ada'];

/** Large enough to be sent in chunks. */
const noise = tarOf([{ name: 'noise', data: randomBytes(8.5 * 1024 ** 2) }]);
/** Small enough for one request, but larger than the buffers in between. */
const much = tarOf([{ name: 'much', data: Buffer.alloc(7 * 1024 ** 2, '?') }]);

const test = testOfCommands({ 'hello.tar': helloTar, 'noise.tar': noise, 'much.tar': much });

function newDepositor({ context: { service, home } }: ExecutionContext<CommandContext>, url?: string) {
  return depositorOn(service, home, url);
}

/** Starts a proxy that loses the answer to the first matching request. */
function losing(
  t: ExecutionContext<CommandContext>,
  match: RegExp,
  options?: Parameters<typeof AlteringProxy.start>[2],
) {
  let lost = 0;
  const alter: Alteration = (answer, line) =>
    match.test(line) && lost++ === 0 ? 'lost' : options === NO_KEYS ? withoutKeys(answer) : answer;
  return AlteringProxy.start(t.context.service.url, alter, options);
}

const NO_KEYS = { drops: ['idempotency-key'] };

/** Returns the service document of a server that does not recognise keys. */
function withoutKeys(answer: Answer): Answer {
  return { ...answer, body: answer.body.replaceAll(/<(\w+:)?idempotencyKey>[^<]*<[^>]*>/g, '') };
}

const CREATION = /^POST \/1\/software\/$/;

test('a creation whose request was aborted is repeated, since it cannot be recorded', async (t) => {
  let broken = 0;
  const breaksAfter = (line: string) => (CREATION.test(line) && broken++ === 0 ? 1000 : undefined);
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, {
    ...NO_KEYS,
    breaksAfter,
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'much.tar', ...described]);
  t.is(code, 0, err);
  t.regex(err, /Connection lost .*; retrying\./);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a creation whose response was lost is not repeated without support for idempotency keys', async (t) => {
  let lost = 0;
  await using proxy = await AlteringProxy.start(
    t.context.service.url,
    (answer, line) => (CREATION.test(line) && lost++ === 0 ? 'lost' : withoutKeys(answer)),
    NO_KEYS,
  );
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'hello.tar', ...described]);
  t.is(code, 5);
  t.regex(err, /lost before the response .*\. The request may or may not have been recorded\.\nCheck with/);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a creation whose response was lost is repeated with its idempotency key and creates one deposit', async (t) => {
  const telling = '<idempotencyKey>true</idempotencyKey></collection>';
  let lost = 0;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) => {
    if (CREATION.test(line) && lost++ < 2) return 'lost';
    const isServiceDocument = line === 'GET /1/servicedocument/';
    return isServiceDocument ? { ...answer, body: answer.body.replace('</collection>', telling) } : answer;
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'hello.tar', ...described, '--wait']);
  t.is(code, 0, err);
  t.is(lost, 3);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a creation that arrives too slowly is repeated with its key, which is retained at the timeout', async (t) => {
  let refusals = 3;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) =>
    CREATION.test(line) && refusals-- > 0
      ? { ...answer, status: 408, headers: refusals === 2 ? { 'retry-after': '600' } : {}, body: '' }
      : answer,
  );
  const depositor = await newDepositor(t, proxy.url);
  const ended = await depositor.run(['upload', 'hello.tar', ...described]);
  t.is(ended.code, 5);
  t.regex(ended.err, /^The server refused: 408\.$/m);
  const { code, err } = await depositor.run(['upload', 'hello.tar', ...described]);
  t.is(code, 0, err);
  t.is(err.match(/^Request too slow \(408\); retrying\.$/gm)?.length, 2);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('an addition whose response was lost is recorded once, also without idempotency keys', async (t) => {
  const depositor = await newDepositor(t);
  const id = String((await depositor.facts(['upload', 'hello.tar', '--partial']))['deposit']);
  await using adding = await losing(t, /^POST .*\/media\/$/, NO_KEYS);
  const add = ['upload', '--deposit', id, 'hello.tar', '--partial', '--server', adding.url];
  const added = await depositor.run(add);
  t.is(added.code, 0, added.err);
  t.regex(added.err, /retrying/);
  // The last request completes the deposit, which then is no longer partial.
  await using completing = await losing(t, /^POST .*\/metadata\/$/, NO_KEYS);
  const complete = ['upload', '--deposit', id, ...described, '--server', completing.url];
  const completed = await depositor.run(complete);
  t.is(completed.code, 0, completed.err);
  t.regex(completed.err, /retrying/);
  t.deepEqual(await eventTypes(t, id), [
    'DepositCreated',
    'ArchiveAdded',
    'ArchiveAdded',
    'MetadataAdded',
    'DepositCompleted',
  ]);
});

for (const [what, options, event] of [
  ['archives', ['hello.tar'], 'ArchivesReplaced'],
  ['metadata', described, 'MetadataReplaced'],
] as const)
  test(`a replacement of ${what} whose response was lost is found in the deposit on a server without keys for PUT`, async (t) => {
    const depositor = await newDepositor(t);
    const first = await depositor.facts([
      'upload',
      'hello.tar',
      '--name',
      'Sketch',
      '--author',
      'Ada',
      '--partial',
    ]);
    const id = String(first['deposit']);
    await using older = await losing(t, /^PUT /, {
      drops: (line) => (line.startsWith('PUT') ? ['idempotency-key'] : []),
    });
    const replace = ['upload', '--deposit', id, '--replace', ...options, '--wait', '--server', older.url];
    const { code, err } = await depositor.run(replace);
    t.is(code, 0, err);
    t.regex(err, /retrying/);
    t.deepEqual(
      (await eventTypes(t, id)).filter((type) => type === event),
      [event],
    );
  });

test('an upload that another node does not know is sent again, and the archive is recorded once', async (t) => {
  const gone = new Set([CREATION, /^HEAD .*\/uploads\//]); // the first of each, as from a node that took over
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) => {
    const [pattern] = gone;
    if (!pattern?.test(line)) return answer;
    gone.delete(pattern);
    return { ...answer, status: 404, body: '' };
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'noise.tar', ...described, '--wait']);
  t.is(code, 0, err);
  t.regex(err, /^The server no longer has the upload; starting over\.$/m);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a deletion whose response was lost succeeds when repeated', async (t) => {
  await using proxy = await losing(t, /^DELETE /);
  const depositor = await newDepositor(t, proxy.url);
  const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
  const deleted = await depositor.run(['delete', String(deposit)]);
  t.is(deleted.code, 0, deleted.err);
  t.regex(deleted.err, /retrying/);
});

const downloads: Record<string, { alter: (answer: Answer, at: number) => Answer; statuses: number[] }> = {
  'resumes where it broke': { alter: (answer) => answer, statuses: [200, 206, 206] },
  'starts again if the archive has no strong ETag': {
    alter: (answer) => ({ ...answer, headers: { ...answer.headers, etag: 'W/"weak"' } }),
    statuses: [200, 200, 200],
  },
  'starts again if the archive was replaced': {
    alter: (answer, at) => (at === 0 ? { ...answer, headers: { ...answer.headers, etag: '"old"' } } : answer),
    statuses: [200, 200, 206],
  },
};
for (const [outcome, { alter, statuses }] of Object.entries(downloads))
  test(`an aborted download ${outcome}`, async (t) => {
    const seen: number[] = [];
    await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) => {
      if (!/^GET .*\/media\/$/.test(line)) return answer;
      const altered = alter(answer, seen.length);
      seen.push(answer.status);
      if (seen.length > 2) return altered;
      const headers = { ...altered.headers, 'content-length': String(answer.body.length) };
      return { ...altered, headers, body: answer.body.slice(0, 700), breaks: true };
    });
    const depositor = await newDepositor(t, proxy.url);
    const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
    const output = `${depositor.user}.tar`;
    const fetched = await depositor.facts(['fetch', String(deposit), '--output', output]);
    t.like(fetched, { length: helloTar.length });
    t.deepEqual(await readFile(path.join(depositor.home, output)), helloTar);
    t.deepEqual(seen, statuses);
  });

test('a part that does not follow what has arrived ends the command at once', async (t) => {
  let asked = 0;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) => {
    if (!/^GET .*\/media\/$/.test(line)) return answer;
    const headers = { ...answer.headers, 'content-length': String(answer.body.length) };
    const part = { ...answer, headers, body: answer.body.slice(0, 700) };
    if (asked++ === 0) return { ...part, breaks: true };
    return { ...part, headers: { ...headers, 'content-range': 'bytes 1-2/3' }, stalls: true };
  });
  const depositor = await newDepositor(t, proxy.url);
  const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
  const child = depositor.start(['fetch', String(deposit), '--output', `${depositor.user}.tar`]);
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000); // the rest never arrives
  t.teardown(() => clearTimeout(late));
  const { code, err } = await outcomeOf(child);
  t.is(code, 1, err);
  t.regex(err, /answered the request for the bytes from 700 with bytes 1-2\/3\./);
});

type Killed = {
  /** The signal that ends the first command; by default, SIGKILL. */
  readonly signal?: 'SIGINT';
  /** Changes what the killed command has left in its folder. */
  readonly change?: (folder: string) => Promise<void>;
  /** Changes what the second command has in its folder while it waits for its first answer. */
  readonly meanwhile?: (folder: string) => Promise<void>;
  readonly alter?: (answer: Answer) => Answer;
  /** `Range` of each request of the second command, and the status of its answer. */
  readonly asked: readonly (string | undefined)[];
  readonly statuses: readonly number[];
};

/** Bytes that arrive before the command is killed: all but the last are continued. */
const ARRIVED = 700;
const killedDownloads: Record<string, Killed> = {
  'continues where it ended': { asked: [`bytes=${ARRIVED - 1}-`], statuses: [206] },
  'continues after Ctrl-C, too': { signal: 'SIGINT', asked: [`bytes=${ARRIVED - 1}-`], statuses: [206] },
  'begins again if the archive was replaced': {
    alter: (answer) => ({ ...answer, headers: { ...answer.headers, etag: '"old"' } }),
    asked: [`bytes=${ARRIVED - 1}-`],
    statuses: [200],
  },
  'begins again if no digest was announced': {
    alter: ({ headers: { etag = '' }, ...answer }) => ({ ...answer, headers: { etag } }),
    asked: [undefined],
    statuses: [200],
  },
  'begins again if what is on the disk is damaged': {
    change: (folder) => writeFile(path.join(folder, 'archive'), Buffer.alloc(ARRIVED)),
    asked: [`bytes=${ARRIVED - 1}-`, undefined],
    statuses: [206, 200],
  },
  'begins again if more is on the disk than was announced': {
    change: (folder) => writeFile(path.join(folder, 'archive'), Buffer.alloc(helloTar.length + 10)),
    asked: [`bytes=${helloTar.length - 1}-`, undefined],
    statuses: [206, 200],
  },
  'begins again if another process, such as one that was stopped, writes to the file': {
    meanwhile: (folder) => appendFile(path.join(folder, 'archive'), 'more'),
    asked: [`bytes=${ARRIVED - 1}-`, undefined],
    statuses: [206, 200],
  },
  'asks again for the last byte of a whole archive': {
    change: (folder) => writeFile(path.join(folder, 'archive'), helloTar),
    asked: [`bytes=${helloTar.length - 1}-`],
    statuses: [206],
  },
};
for (const [
  outcome,
  { signal = 'SIGKILL', change, meanwhile, alter = (answer: Answer) => answer, asked, statuses },
] of Object.entries(killedDownloads))
  test(`a download that was killed and is run again ${outcome}`, async (t) => {
    const ranges: (string | undefined)[] = [];
    const seen: number[] = [];
    let isCut = true;
    await using proxy = await AlteringProxy.start(t.context.service.url, async (answer, line, headers) => {
      if (!/^GET .*\/media\/$/.test(line)) return answer;
      if (!isCut) {
        if (ranges.length === 0) await meanwhile?.(path.join(downloads, (await readdir(downloads))[0] ?? ''));
        ranges.push(headers['range']);
        seen.push(answer.status);
        return answer;
      }
      const altered = alter(answer);
      const announced = { ...altered.headers, 'content-length': String(answer.body.length) };
      return { ...altered, headers: announced, body: answer.body.slice(0, ARRIVED), stalls: true };
    });
    const depositor = await newDepositor(t, proxy.url);
    const env = { XDG_CACHE_HOME: path.join(depositor.home, `cache of ${depositor.user}`) };
    const downloads = path.join(env.XDG_CACHE_HOME, 'sword-deposit', 'downloads');
    const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
    const output = `${depositor.user}.tar`;
    const fetching = ['fetch', String(deposit), '--output', output];
    const child = depositor.start(fetching, env);
    const exited = once(child, 'close');
    let said = '';
    child.stderr?.on('data', (piece) => (said += String(piece)));
    await until(async () => {
      const [folder = ''] = await readdir(downloads).catch(() => []);
      const { size } = await stat(path.join(downloads, folder, 'archive')).catch(() => ({ size: 0 }));
      return size === ARRIVED;
    });
    child.kill(signal);
    await exited;
    t.is(/^Interrupted\. Run the same command again to resume\.$/m.test(said), signal === 'SIGINT');
    t.false(existsSync(path.join(depositor.home, output)), 'a part never has the name of the archive');
    const [folder = ''] = await readdir(downloads);
    await change?.(path.join(downloads, folder));
    isCut = false;
    const { code, err } = await depositor.run(fetching, { env });
    t.is(code, 0, err);
    t.deepEqual(await readFile(path.join(depositor.home, output)), helloTar);
    t.deepEqual([ranges, seen], [asked, statuses]);
    t.is(/^Resuming: 0\.0 of 0\.0 MB already downloaded\.$/m.test(err), statuses[0] === 206);
    t.deepEqual(await readdir(downloads), [], 'nothing of it is stored');
  });

const unstoredDownloads: Record<string, { cache: string; alter: (answer: Answer) => Answer }> = {
  'without a cache': { cache: '/dev/null', alter: (answer) => answer },
  'without a digest': {
    cache: '',
    alter: ({ headers: { etag = '' }, ...answer }) => ({ ...answer, headers: { etag } }),
  },
};
for (const [condition, { cache, alter }] of Object.entries(unstoredDownloads))
  test(`an interrupted download ${condition} does not promise to resume`, async (t) => {
    await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) => {
      if (!/^GET .*\/media\/$/.test(line)) return answer;
      const altered = alter(answer);
      const announced = { ...altered.headers, 'content-length': String(answer.body.length) };
      return { ...altered, headers: announced, body: answer.body.slice(0, ARRIVED), stalls: true };
    });
    const depositor = await newDepositor(t, proxy.url);
    const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
    const TMPDIR = await mkdtemp(path.join(depositor.home, 'tmp-'));
    const env = { TMPDIR, XDG_CACHE_HOME: cache || path.join(TMPDIR, 'cache') };
    const child = depositor.start(['fetch', String(deposit), '--output', `${depositor.user}.tar`], env);
    const ended = outcomeOf(child);
    await until(async () => {
      const names = await readdir(TMPDIR, { recursive: true });
      const archive = names.find((name) => path.basename(name) === 'archive');
      return archive !== undefined && (await stat(path.join(TMPDIR, archive))).size === ARRIVED;
    });
    child.kill('SIGINT');
    const { err } = await ended;
    t.regex(err, /^Interrupted\. Nothing was stored: the same command starts over\.$/m);
  });

test('an upload of a large archive resumes where its connection failed', async (t) => {
  let broken = 0;
  const breaksAfter = (line: string) =>
    line.startsWith('PATCH') && broken++ < 2 ? 3 * 1024 ** 2 : undefined;
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, { breaksAfter });
  const depositor = await newDepositor(t, proxy.url);
  const { code, results } = await depositor.json(['upload', 'noise.tar', ...described, '--wait']);
  t.is(code, 0, JSON.stringify(results));
  t.like(results[0], { status: 'done', swhidAgrees: true });
  const ways = proxy.requests.map((line) => line.replace(/[0-9a-f-]{36}/, 'N').replace(/\/\d+\/m/, '/N/m'));
  // A PATCH is refused, and the length asked again, until the service has noticed the loss.
  t.regex(
    ways.filter((line) => !line.startsWith('GET')).join('\n'),
    /^POST \/1\/software\/uploads\/\n(PATCH .*\nHEAD .*\n){2,}PATCH .*\nPOST \/1\/software\/\nPOST .*\/N\/metadata\/$/,
  );
  t.deepEqual(await readdir(path.join(depositor.configuration, 'uploads')), [], 'nothing of it is stored');
});

test('a proxy that limits the size of requests gets smaller ones', async (t) => {
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, {
    refuses: (_line, bytes) => (bytes > 2 * 1024 ** 2 ? 413 : undefined),
  });
  const depositor = await newDepositor(t, proxy.url);
  for (const archives of [['noise.tar'], ['much.tar'], ['hello.tar', 'much.tar']]) {
    const { code, err } = await depositor.run(['upload', ...archives, ...described, '--wait']);
    t.is(code, 0, err);
  }
  t.is((await depositsOf(t.context.service, depositor)).length, 3);
  const dry = await depositor.run(['upload', 'much.tar', ...described, '--dry-run']);
  t.is(dry.code, 1);
  t.regex(
    dry.err,
    /^The server refused: 413\.\nPOST .*: a proxy limits the size of requests\. Ask the operator/m,
  );
});

test('an archive that a proxy refuses after a larger one is sent in chunks to the same deposit', async (t) => {
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, {
    refuses: (line, bytes) => (/^POST .*\/media\/$/.test(line) && bytes > 2000 ? 413 : undefined),
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'much.tar', 'hello.tar', ...described, '--wait']);
  t.is(code, 0, err);
  t.regex(err, /^A proxy refuses requests of this size: sending smaller ones\.$/m);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a creation whose response was lost, and which a proxy refuses then, is found by its key', async (t) => {
  let creations = 0;
  await using proxy = await AlteringProxy.start(
    t.context.service.url,
    (answer, line) => (CREATION.test(line) && creations === 1 ? 'lost' : answer),
    {
      refuses: (line, bytes) =>
        CREATION.test(line) && (creations += 1) > 1 && bytes > 500 ? 413 : undefined,
    },
  );
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'hello.tar', ...described, '--wait']);
  t.is(code, 0, err);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('a chunk of which nothing arrives is followed by smaller ones', async (t) => {
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, {
    refuses: (line, bytes) => (line.startsWith('PATCH') && bytes > 3 * 1024 ** 2 ? 'lost' : undefined),
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'noise.tar', '--partial']);
  t.is(code, 0, err);
  const chunks = proxy.requests.filter((line) => line.startsWith('PATCH')).length;
  t.is(chunks, 2 + 1 + 4, 'the whole is lost twice, then a half; the others have a quarter');
});

test('a server that is not ready for a time gets no smaller chunks', async (t) => {
  let refusals = 3;
  await using proxy = await AlteringProxy.start(t.context.service.url, undefined, {
    refuses: (line) => (line.startsWith('PATCH') && refusals-- > 0 ? 503 : undefined),
  });
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'noise.tar', '--partial']);
  t.is(code, 0, err);
  t.is(proxy.requests.filter((line) => line.startsWith('PATCH')).length, 3 + 1);
});

test('a server that stores no chunk ends the command after the time limit', async (t) => {
  const collection =
    '<collection href="/c/"><idempotencyKey>true</idempotencyKey><resumableUploads>/u/</resumableUploads></collection>';
  let chunks = 0;
  await using server = await listening((request, response) => {
    const { method } = request;
    if (method === 'PATCH') chunks += 1;
    request.resume().once('end', () => {
      if (method === 'GET') response.end(`<service><workspace>${collection}</workspace></service>`);
      else
        response.writeHead(method === 'POST' ? 201 : 204, { location: '/u/1', 'upload-offset': '0' }).end();
    });
  });
  const depositor = await newDepositor(t, server.url);
  const { code, err } = await depositor.run(['upload', 'noise.tar', '--partial', '--timeout', '10']);
  t.is(code, 1, err);
  // The last chunk gets the time that is left, which may not suffice to send it.
  t.regex(
    err,
    /^The server at .* (stores nothing of the upload .*|cannot be reached: no complete response .*)\.$/m,
  );
  t.true(chunks < 10, `${chunks} chunks`);
});

test('an upload whose bytes were changed on their way is sent again by the next command', async (t) => {
  const error = 'href="http://purl.org/net/sword/error/ErrorChecksumMismatch"';
  let refusals = 1;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) =>
    CREATION.test(line) && refusals-- > 0
      ? { status: 412, headers: {}, body: `<error ${error}><summary>It differs.</summary></error>` }
      : answer,
  );
  const depositor = await newDepositor(t, proxy.url);
  const upload = ['upload', 'noise.tar', '--partial'];
  t.is((await depositor.run(upload)).code, 1);
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.is(proxy.requests.filter((line) => line.startsWith('PATCH')).length, 2);
});

test('an upload that the server has lost starts again', async (t) => {
  let refusals = 2;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) =>
    /^(PATCH|HEAD) /.test(line) && refusals-- > 0 ? { ...answer, status: 404, body: '' } : answer,
  );
  const depositor = await newDepositor(t, proxy.url);
  const { code, err } = await depositor.run(['upload', 'noise.tar', '--partial']);
  t.is(code, 0, err);
  t.regex(err, /The server dropped the upload; starting over\./);
  t.is((await depositsOf(t.context.service, depositor)).length, 1);
});

test('an incomplete deposit that remains on the server is reported with its number', async (t) => {
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer, line) =>
    /^POST .*\/media\/$/.test(line) ? { ...answer, status: 400, body: '' } : answer,
  );
  const depositor = await newDepositor(t, proxy.url);
  const { code, results } = await depositor.json(['upload', 'hello.tar', 'hello.tar', ...described]);
  t.is(code, 1);
  const { error } = results[0] as { error: Facts };
  t.like(error, { exitCode: 1, status: 400 });
  t.deepEqual([`deposit-${String(error['deposit'])}`], await depositsOf(t.context.service, depositor));
});

/** Resolves to the events that the client has caused. */
async function eventTypes({ context }: ExecutionContext<CommandContext>, id: string): Promise<string[]> {
  const events = await Array.fromAsync(context.service.service.log.readStream(`deposit-${id}`));
  const own = ['DepositVerified', 'DepositRejected', 'LoadingStarted', 'DepositLoaded'];
  return events.map(({ type }) => type).filter((type) => !own.includes(type));
}
