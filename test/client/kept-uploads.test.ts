import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { PreparedArchive } from '../../client/archives/prepare-archive.ts';
import { KeptUploads } from '../../client/tus/kept-uploads.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { type AlteringOptions, AlteringProxy, type Answer } from '../../testing/http/altering-proxy.ts';
import type { CommandLineDepositor } from '../../testing/processes/deposit-command.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { depositsOf, newDepositor } from './many-depositors.ts';
import { type CommandContext, testOfCommands } from './test-of-commands.ts';

const described = ['--name', 'Paint', '--author', 'Ada'];
const CREATION = /^POST \/1\/software\/$/;

const LIMITS = { maxSize: 2 ** 30, perClient: 2, totalSize: 2 ** 33, expiry: 3_600_000 };

/** Large enough to be sent in chunks. */
const noise = tarOf([{ name: 'noise', data: randomBytes(8.5 * 1024 ** 2) }]);
const other = tarOf([{ name: 'other', data: Buffer.alloc(8.5 * 1024 ** 2, '?') }]);

const test = testOfCommands(
  {
    'noise.tar': noise,
    'other.tar': other,
    'one.tar': tarOf([{ name: 'one', data: '1' }]),
    'two.tar': tarOf([{ name: 'two', data: '2' }]),
  },
  { uploadLimits: LIMITS },
);

test('repeating a killed upload sends only the remaining bytes', async (t) => {
  const { service, home } = t.context;
  let isDeaf = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    isDeaf && /^(PATCH|HEAD) /.test(line) ? 'lost' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'noise.tar', ...described, '--wait'];
  await killedWhen(t, depositor, upload, () => proxy.requests.some((line) => line.startsWith('HEAD')));
  isDeaf = false;
  proxy.requests.length = 0;
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /Resuming: 8\.9 of 8\.9 MB already uploaded\./);
  t.deepEqual(
    proxy.requests.filter((line) => /^(PATCH|POST \/1\/software\/uploads)/.test(line)),
    [],
  );
  t.is((await depositsOf(service, depositor)).length, 1);
});

test('repeating an upload killed after its archive was recorded continues with that deposit', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && CREATION.test(line) ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'noise.tar', ...described, '--wait'];
  const isRecorded = async () => (await depositsOf(service, depositor)).length === 1;
  await killedWhen(t, depositor, upload, isRecorded);
  holds = false;
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /^Another run of this command has not finished: continuing with the same deposit\.$/m);
  t.is((await depositsOf(service, depositor)).length, 1);
});

for (const [when, line] of [
  ['after the creation was recorded', CREATION],
  ['after the last archive was recorded', /^POST .*\/media\/$/],
  ['while it waited', /^GET .*\/status\/$/],
] as const)
  test(`repeating a command that was killed ${when} continues with the same deposit`, async (t) => {
    const { service, home } = t.context;
    let holds = true;
    await using proxy = await AlteringProxy.start(service.url, (answer, request) =>
      holds && line.test(request) ? 'held' : answer,
    );
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', 'one.tar', 'two.tar', ...described, '--wait'];
    const isSent = () => proxy.requests.some((request) => line.test(request));
    await killedWhen(t, depositor, upload, async () => isSent() && isRecorded(service, depositor, line));
    holds = false;
    await assertEnds(t, service, depositor, upload, 1);
    const again = await depositor.run(upload);
    t.is(again.code, 0, again.err);
    t.is((await depositsOf(service, depositor)).length, 2, 'the first is complete: this is another one');
  });

/** Leaves out what names the deposit in a refusal, as older servers do. */
function unnamed(answer: Answer): Answer {
  const headers = Object.entries(answer.headers).filter(([name]) => name !== 'link');
  return { ...answer, headers: Object.fromEntries(headers) };
}

for (const [what, limit, alter] of [
  ['no longer refuses large requests', Infinity, undefined],
  ['no longer refuses large requests, and the server names no deposit', Infinity, unnamed],
  ['refuses all requests with an archive', 500, undefined],
] as const)
  test(`repeating a command that was killed after a 413 continues with its deposit, also if the proxy ${what}`, async (t) => {
    const { service, home } = t.context;
    let [holds, most] = [true, 2500];
    await using proxy = await AlteringProxy.start(
      service.url,
      (answer, line) => (holds && /^POST .*\/metadata\/$/.test(line) ? 'held' : (alter?.(answer) ?? answer)),
      { refuses: (line, bytes) => (CREATION.test(line) && bytes > most ? 413 : undefined) },
    );
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', 'one.tar', 'two.tar', ...described, '--wait'];
    const isSplit = () => proxy.requests.some((line) => /^POST .*\/metadata\/$/.test(line));
    await killedWhen(t, depositor, upload, isSplit);
    [holds, most] = [false, limit];
    await assertEnds(t, service, depositor, upload, 1);
  });

/** Resolves to a proxy that holds back the answers to creations, refuses creations with more bytes, and alters answers. */
function proxyOf(
  service: RunningService,
  creations: { readonly areHeld: boolean; readonly most: number },
  alter: (answer: Answer) => Answer = (answer) => answer,
): Promise<AlteringProxy> {
  return AlteringProxy.start(
    service.url,
    (answer, line) => (creations.areHeld && CREATION.test(line) ? 'held' : alter(answer)),
    { refuses: (line, bytes) => (CREATION.test(line) && bytes > creations.most ? 413 : undefined) },
  );
}

for (const [what, archives] of [
  ['one archive', ['one.tar']],
  ['two archives', ['one.tar', 'two.tar']],
] as const)
  test(`repeating a command with ${what} whose creation a proxy refuses now continues with its deposit`, async (t) => {
    const { service, home } = t.context;
    const creations = { areHeld: true, most: Infinity };
    await using proxy = await proxyOf(service, creations);
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', ...archives, ...described];
    await killedWhen(t, depositor, upload, async () => (await depositsOf(service, depositor)).length === 1);
    Object.assign(creations, { areHeld: false, most: 2500 });
    const facts = await depositor.facts([...upload, '--wait', '--timeout', '20']);
    t.like(facts, { status: 'done', swhidAgrees: true });
    const [stream = ''] = await depositsOf(service, depositor);
    const events = await Array.fromAsync(service.service.log.readStream(stream));
    t.is(events.filter(({ type }) => type === 'MetadataAdded').length, 1);
    t.is(events.filter(({ type }) => type === 'ArchiveAdded').length, archives.length);
    t.is((await depositsOf(service, depositor)).length, 1);
  });

test('a command whose way to upload has changed starts over if its deposit was deleted', async (t) => {
  const { service, home } = t.context;
  const creations = { areHeld: true, most: Infinity };
  await using proxy = await proxyOf(service, creations);
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'one.tar', ...described, '--partial'];
  await killedWhen(t, depositor, upload, async () => (await depositsOf(service, depositor)).length === 1);
  const [stream = ''] = await depositsOf(service, depositor);
  Object.assign(creations, { areHeld: false, most: 2500 });
  await depositor.facts(['delete', stream.replace('deposit-', '')]);
  const { code, err } = await depositor.run([...upload, '--timeout', '20']);
  t.is(code, 0, err);
  t.regex(err, /^The deposit of the interrupted command no longer exists; starting over\.$/m);
  t.is((await depositsOf(service, depositor)).length, 2);
});

test('a command that was killed makes no second deposit if a server that names none refuses its creation', async (t) => {
  const { service, home } = t.context;
  const creations = { areHeld: true, most: Infinity };
  await using proxy = await proxyOf(service, creations, unnamed);
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'one.tar', 'two.tar', ...described, '--wait'];
  await killedWhen(t, depositor, upload, () => isRecorded(service, depositor, CREATION));
  Object.assign(creations, { areHeld: false, most: 2500 });
  const refused = await depositor.run([...upload, '--timeout', '20']);
  t.is(refused.code, 1, refused.err);
  t.regex(refused.err, /409/);
  t.regex(
    refused.err,
    /^Another run of this command may have created the deposit: check with deposit list\.\nTo make another deposit, remove .*requests\/[0-9a-f]{64} and run the command again\.$/m,
  );
  creations.most = Infinity;
  await assertEnds(t, service, depositor, upload, 1);
});

/** A server that recognises the keys of POST alone, as older ones do. */
const KEYS_OF_POST: AlteringOptions = {
  drops: (line) => (line.startsWith('PUT') ? ['idempotency-key'] : []),
};

for (const [server, options] of [
  ['', {}],
  [' on an older server', KEYS_OF_POST],
] as const)
  test(`repeating a replacement${server} that was killed after it was recorded continues with the same deposit`, async (t) => {
    const { service, home } = t.context;
    let holds = true;
    await using proxy = await AlteringProxy.start(
      service.url,
      (answer, request) => (holds && /^PUT .*\/media\/$/.test(request) ? 'held' : answer),
      options,
    );
    const depositor = await newDepositor(service, home, proxy.url);
    const id = String((await depositor.facts(['upload', 'one.tar', '--partial']))['deposit']);
    const upload = ['upload', '--deposit', id, '--replace', 'two.tar', ...described, '--wait'];
    await killedWhen(t, depositor, upload, () => isRecorded(service, depositor, /^PUT/));
    holds = false;
    const { code, err } = await depositor.run(upload);
    t.is(code, 0, err);
  });

const corrected = tarOf([{ name: 'two', data: 'corrected' }]);
for (const [what, archives, before, after, options] of [
  ['metadata after a large archive', [], noise, noise, ['--version', '2']],
  ['an archive under the same name', ['one.tar'], tarOf([{ name: 'two', data: '2' }]), corrected, []],
] as const)
  test(`a killed command that is run again with other content, ${what}, makes a deposit with it`, async (t) => {
    const { service, home } = t.context;
    let holds = true;
    await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
      holds && /^GET .*\/status\/$/.test(line) ? 'held' : answer,
    );
    const depositor = await newDepositor(service, home, proxy.url);
    const changed = `${depositor.user}.tar`;
    const upload = ['upload', ...archives, changed, ...described, '--wait'];
    await writeFile(path.join(home, changed), before);
    await killedWhen(t, depositor, upload, () => proxy.requests.some((line) => line.endsWith('/status/')));
    holds = false;
    await writeFile(path.join(home, changed), after);
    const { code, err } = await depositor.run([...upload, ...options]);
    t.is(code, 0, err);
    t.is((await depositsOf(service, depositor)).length, 2);
  });

for (const [what, options] of [
  ['an addition', []],
  ['a replacement of metadata', ['--replace']],
] as const)
  test(`${what} that did not reach a deposit is refused when it is run again after its completion`, async (t) => {
    const { service, home } = t.context;
    let loses = true;
    const refuses = (line: string) =>
      loses && /^(POST|PUT) .*\/metadata\/$/.test(line) ? 'lost' : undefined;
    await using proxy = await AlteringProxy.start(service.url, undefined, { refuses });
    const depositor = await newDepositor(service, home, proxy.url);
    await depositor.facts(['upload', 'one.tar', '--name', 'Sketch', '--author', 'Ada', '--partial']);
    const [stream = ''] = await depositsOf(service, depositor);
    const id = stream.replace('deposit-', '');
    const change = ['upload', '--deposit', id, ...described, ...options];
    const isLost = () =>
      proxy.requests.some((line) => !line.startsWith('GET') && line.endsWith('/metadata/'));
    await killedWhen(t, depositor, change, isLost);
    loses = false;
    await depositor.facts(['complete', id]);
    const { code, err } = await depositor.run(change);
    t.is(code, 1, err);
    t.regex(err, /405/);
    const isUnsure = options.length > 0;
    t.is(
      new RegExp(`^The history of deposit ${id} shows that this change is not recorded\\.$`, 'm').test(err),
      isUnsure,
    );
  });

test('a refusal of the metadata of a command that was killed makes no second deposit', async (t) => {
  const { service, home } = t.context;
  let holds: boolean | null = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) => {
    if (!/^POST .*\/metadata\/$/.test(line) || holds === null) return answer;
    return holds ? 'held' : { ...answer, status: 403, body: '' };
  });
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'noise.tar', ...described];
  const isSent = () => proxy.requests.some((line) => /^POST .*\/metadata\/$/.test(line));
  await killedWhen(t, depositor, upload, isSent);
  holds = false;
  const { code, err } = await depositor.run(upload);
  t.is(code, 1, err);
  t.regex(err, /403/);
  t.regex(err, ADVICE);
  holds = null;
  const again = await depositor.run(upload);
  t.is(again.code, 0, again.err);
  t.is((await depositsOf(service, depositor)).length, 1);
});

/** Says that the same command continues the deposit. */
const ADVICE = /[Rr]un(ning)? the same command again/;

for (const [what, archives, line] of [
  ['a creation', ['one.tar'], CREATION],
  ['metadata', ['noise.tar'], /^POST .*\/metadata\/$/],
  ['a second archive', ['one.tar', 'two.tar'], /^POST .*\/media\/$/],
] as const)
  test(`a command that sent ${what}, whose repetition was refused, continues with the same deposit when it is run again`, async (t) => {
    const { service, home } = t.context;
    let sent = 0;
    await using proxy = await AlteringProxy.start(service.url, (answer, request) => {
      if (line.test(request)) sent += 1;
      if (!line.test(request) || sent > 2) return answer;
      return sent === 1 ? 'lost' : { ...answer, status: 400, body: '' };
    });
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', ...archives, ...described];
    const refused = await depositor.run(upload);
    t.is(refused.code, 1, refused.err);
    t.regex(refused.err, ADVICE);
    const { code, err } = await depositor.run(upload);
    t.is(code, 0, err);
    const [stream = '', ...others] = await depositsOf(service, depositor);
    t.deepEqual(others, []);
    const events = await Array.fromAsync(service.service.log.readStream(stream));
    t.is(events.filter(({ type }) => type === 'ArchiveAdded').length, archives.length);
  });

test('a creation whose upload is refused after its response was lost is repeated by the next command', async (t) => {
  const { service, home } = t.context;
  let [creations, isRefusing] = [0, true];
  await using proxy = await AlteringProxy.start(service.url, (answer, line) => {
    if (CREATION.test(line)) creations += 1;
    if (CREATION.test(line) && creations < 3)
      return creations === 1 ? 'lost' : { ...answer, status: 404, body: '' };
    const isBegun = creations === 2 && line === 'POST /1/software/uploads/';
    return isBegun && isRefusing ? { ...answer, status: 403, body: '' } : answer;
  });
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'noise.tar', '--partial'];
  const refused = await depositor.run(upload);
  t.is(refused.code, 1, refused.err);
  t.regex(refused.err, /403/);
  isRefusing = false;
  await assertEnds(t, service, depositor, upload, 1);
});

test('a command that was killed and then refused continues with the same deposit when it is run again', async (t) => {
  const { service, home } = t.context;
  let alter = (_answer: Answer): Answer | 'held' => 'held';
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    CREATION.test(line) ? alter(answer) : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'one.tar', ...described];
  await killedWhen(t, depositor, upload, () => isRecorded(service, depositor, CREATION));
  alter = (answer) => ({ ...answer, status: 401, body: '' });
  const refused = await depositor.run(upload);
  t.is(refused.code, 1, refused.err);
  t.regex(refused.err, ADVICE);
  alter = (answer) => answer;
  await assertEnds(t, service, depositor, upload, 1);
});

test('the key of a command that was sent once and refused is removed', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const entry = path.join(home, 'malformed.xml');
  await writeFile(entry, '<entry');
  const { code, err } = await depositor.run(['upload', 'one.tar', '--metadata', entry]);
  t.is(code, 1, err);
  t.notRegex(err, ADVICE);
  t.deepEqual(await keysOf(depositor), []);
});

for (const [what, status, options] of [
  ['completed', 405, []],
  ['changed', 412, ['--partial']],
] as const)
  test(`a command that was killed makes another deposit if its own was ${what} meanwhile, and says so first`, async (t) => {
    const { service, home } = t.context;
    let loses = true;
    const refuses = (line: string) => (loses && /^POST .*\/metadata\/$/.test(line) ? 'lost' : undefined);
    await using proxy = await AlteringProxy.start(service.url, undefined, { refuses });
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', 'noise.tar', ...described];
    const isLost = () => proxy.requests.some((line) => /^POST .*\/metadata\/$/.test(line));
    await killedWhen(t, depositor, upload, isLost);
    loses = false;
    const [stream = ''] = await depositsOf(service, depositor);
    const id = stream.replace('deposit-', '');
    await depositor.facts(['upload', '--deposit', id, '--name', 'Other', '--author', 'Ada', ...options]);
    const refused = await depositor.run(upload);
    t.is(refused.code, 1, refused.err);
    t.regex(refused.err, new RegExp(`^The server refused: ${status} `, 'm'));
    t.notRegex(refused.err, ADVICE);
    await assertEnds(t, service, depositor, upload, 2);
  });

for (const [what, line, status] of [
  ['its creation was answered with 500', CREATION, 500],
  ['its status was refused', /^GET \/1\/software\/\d+\//, 401],
] as const)
  test(`a command that failed because ${what} continues with the same deposit when it is run again`, async (t) => {
    const { service, home } = t.context;
    let fails = true;
    await using proxy = await AlteringProxy.start(service.url, (answer, request) =>
      fails && line.test(request) ? { ...answer, status, body: '' } : answer,
    );
    const depositor = await newDepositor(service, home, proxy.url);
    const upload = ['upload', 'one.tar', ...described, '--wait'];
    const failed = await depositor.run(upload);
    t.is(failed.code, 1, failed.err);
    fails = false;
    await assertEnds(t, service, depositor, upload, 1);
  });

test('two processes with one home that run the same command make one deposit', async (t) => {
  const { service, home } = t.context;
  let held = 0;
  let both = Promise.withResolvers<void>();
  await using proxy = await AlteringProxy.start(service.url, async (answer, request) => {
    if (!CREATION.test(request) || answer.status !== 201) return answer;
    if ((held += 1) % 2 === 0) both.resolve();
    else both = Promise.withResolvers();
    await both.promise;
    return answer;
  });
  const depositor = await newDepositor(service, home, proxy.url);
  for (const [archives, deposits] of [
    [['one.tar', 'two.tar'], 1],
    [['noise.tar', 'two.tar'], 2],
  ] as const) {
    const upload = ['upload', ...archives, ...described, '--wait'];
    const ran = await Promise.all([depositor.run(upload), depositor.run(upload)]);
    for (const { code, err } of ran) t.is(code, 0, err);
    t.is((await depositsOf(service, depositor)).length, deposits);
  }
});

test('an archive is uploaded again if the deposit with it was deleted', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && CREATION.test(line) ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const upload = ['upload', 'noise.tar', '--partial'];
  await killedWhen(t, depositor, upload, async () => (await depositsOf(service, depositor)).length === 1);
  const [stream = ''] = await depositsOf(service, depositor);
  const iri = `${service.url}/1/software/${stream.replace('deposit-', '')}/metadata/`;
  t.is((await fetch(iri, { method: 'DELETE', headers: authorization(depositor) })).status, 204);
  holds = false;
  await assertEnds(t, service, depositor, upload, 2);
});

test('abandoned uploads are removed for a new one at the limit, those of other programs are not', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && line.startsWith('PATCH') ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const isBegun = () => proxy.requests.some((line) => line.startsWith('PATCH'));
  await killedWhen(t, depositor, ['upload', 'noise.tar', '--partial'], isBegun);
  const headers = { ...authorization(depositor), 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' };
  const foreign = await fetch(`${service.url}/1/software/uploads/`, { method: 'POST', headers });
  t.is(foreign.status, 201, 'the last one within the limit');
  holds = false;
  const { code, err } = await depositor.run(['upload', 'other.tar', '--partial']);
  t.is(code, 0, err);
  t.regex(err, /^The limit of open uploads is reached: removed an abandoned upload of yours\.$/m);
  t.deepEqual(await readdir(path.join(depositor.configuration, 'uploads')), []);
  const left = await fetch(foreign.headers.get('location') ?? '', { method: 'HEAD', headers });
  t.is(left.status, 200);
});

test('Ctrl-C prints the bytes sent and how to resume, and the next run reuses archive and hash', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && /^(PATCH|HEAD) /.test(line) ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const file = path.join(home, 'folder', 'noise');
  await mkdir(path.dirname(file));
  await writeFile(file, randomBytes(9e6));
  // A file that has just been changed could change again without a new time.
  await until(async () => Date.now() - (await stat(file)).ctimeMs > 2100);
  const upload = ['upload', 'folder', ...described, '--wait'];
  const headers = { ...authorization(depositor), 'Tus-Resumable': '1.0.0' };
  // What is sent may be on its way: an interrupt loses that.
  const isStored = async (): Promise<boolean> => {
    const uploads = path.join(depositor.configuration, 'uploads');
    const [name = ''] = await readdir(uploads);
    const [iri = ''] = (await readFile(path.join(uploads, name), 'utf8')).split('\n');
    const { headers: found } = await fetch(iri.replace(proxy.url, service.url), { method: 'HEAD', headers });
    return Number(found.get('upload-offset')) >= 9e6;
  };
  const interrupted = await interruptedWhen(
    depositor,
    upload,
    async (err) => err.includes('Everything is sent; waiting for the server') && (await isStored()),
  );
  t.is(interrupted.code, 130);
  t.regex(
    interrupted.err,
    /^Interrupted\. 9\.0 of 9\.0 MB of folder were sent\. Run the same command again to resume\.$/m,
  );
  holds = false;
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /^folder has not changed since the interrupted upload: not read again\.$/m);
  t.regex(err, /Resuming: 9\.0 of 9\.0 MB already uploaded\./);
  t.is((await depositsOf(service, depositor)).length, 1);
  const cached = await readdir(path.join(home, '.cache/sword-deposit/prepared'));
  t.deepEqual(
    cached.filter((name) => name.endsWith('.tar.gz')),
    [],
    'deposited: forgotten',
  );
});

test('a packed folder in the cache that differs from the folder is packed again by the next command', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && line.startsWith('POST ') ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const file = path.join(home, 'changing', 'noise');
  await mkdir(path.dirname(file));
  await writeFile(file, randomBytes(9e6));
  // A file that has just been changed could change again without a new time.
  await until(async () => Date.now() - (await stat(file)).ctimeMs > 2100);
  const XDG_CACHE_HOME = path.join(home, `cache of ${depositor.user}`);
  const upload = ['upload', 'changing', '--partial'];
  const env = { XDG_CACHE_HOME };
  await interruptedWhen(depositor, upload, async (err) => err.includes('2/2 Sending to'), env);
  holds = false;
  const cache = path.join(XDG_CACHE_HOME, 'sword-deposit', 'prepared');
  for (const name of await readdir(cache)) {
    if (!name.endsWith('.json')) continue;
    const content = await readFile(path.join(cache, name), 'utf8');
    const altered = content.replace(/"directory":"[0-9a-f]+"/, `"directory":"${'0'.repeat(40)}"`);
    await writeFile(path.join(cache, name), altered);
  }
  const differing = await depositor.run(upload, { env });
  t.is(differing.code, 1, differing.err);
  t.regex(differing.err, /^The folder changing changed while it was packed, from /m);
  const { code, err } = await depositor.run(upload, { env });
  t.is(code, 0, err);
});

test('Ctrl-C before the response says how to resume, and no second deposit is made', async (t) => {
  const { service, home } = t.context;
  let holds = true;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    holds && CREATION.test(line) ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  await writeFile(path.join(home, 'small.tar'), tarOf([{ name: 'small', data: '1' }]));
  const upload = ['upload', 'small.tar', ...described];
  const { code, err } = await interruptedWhen(depositor, upload, async (said) =>
    said.includes('Everything is sent; waiting for the server'),
  );
  t.is(code, 130);
  t.regex(err, /^1\/2 Reading small\.tar$/m);
  t.regex(err, /^2\/2 Sending to http.*\/1\/software\/$/m);
  t.regex(err, /^Interrupted\. Run the same command again to resume\.$/m);
  holds = false;
  t.is((await depositor.run(upload)).code, 0);
  t.is((await depositsOf(service, depositor)).length, 1);
});

/** Starts the command, sends SIGINT when the condition holds for its messages, and waits for its end. */
async function interruptedWhen(
  depositor: CommandLineDepositor,
  args: readonly string[],
  isSo: (err: string) => Promise<boolean>,
  env: Record<string, string> = {},
) {
  const child = depositor.start(args, env);
  let err = '';
  child.stderr?.on('data', (text) => (err += String(text)));
  const closed = once(child, 'close');
  await until(async () => child.exitCode !== null || (await isSo(err)));
  child.kill('SIGINT');
  await closed;
  return { code: child.exitCode, err };
}

/** Starts the command, kills it as soon as the condition holds, and waits for its end. */
async function killedWhen(
  t: ExecutionContext<CommandContext>,
  depositor: CommandLineDepositor,
  args: readonly string[],
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const child = depositor.start(args);
  const exited = once(child, 'exit');
  await until(async () => child.exitCode !== null || isSo());
  t.is(child.exitCode, null, 'it has ended without a signal');
  child.kill('SIGKILL');
  await exited;
}

/** Resolves to whether the creation was recorded or, for another request, that it completed the deposit. */
/** Runs the command again, which must end well, and counts the deposits that there are then. */
async function assertEnds(
  t: ExecutionContext,
  service: RunningService,
  depositor: CommandLineDepositor,
  command: readonly string[],
  deposits: number,
): Promise<void> {
  const { code, err } = await depositor.run(command);
  t.is(code, 0, err);
  t.is((await depositsOf(service, depositor)).length, deposits);
}

async function isRecorded(service: RunningService, depositor: CommandLineDepositor, line: RegExp) {
  const [stream] = await depositsOf(service, depositor);
  if (stream === undefined) return false;
  const events = await Array.fromAsync(service.service.log.readStream(stream));
  return line === CREATION || events.some(({ type }) => type === 'DepositCompleted');
}

/** Resolves to the names of the stored keys. */
function keysOf({ configuration }: CommandLineDepositor): Promise<string[]> {
  return readdir(path.join(configuration, 'requests'));
}

function authorization({ user }: CommandLineDepositor) {
  return { Authorization: `Basic ${btoa(`${user}:secret`)}` };
}

test('an upload is abandoned when its process has ended, only for its user, and expires after a month', async (t) => {
  const home = await temporaryFolder(t);
  process.env['XDG_CONFIG_HOME'] = home;
  const folder = path.join(home, 'sword-deposit', 'uploads');
  const of = (user: string, sha256: string) => {
    const login = { server: new URL('https://deposit.example/'), user, password: '' };
    return new KeptUploads(login, 'https://deposit.example/uploads/', {
      sha256,
      length: 1,
    } as PreparedArchive);
  };
  const given = () =>
    of('alice', 'another')
      .abandoned()
      .map(({ upload }) => upload);
  const files = async () => (await readdir(folder)).map((name) => path.join(folder, name));
  const sentBy = async (sender: string) => {
    for (const file of await files()) {
      const lines = (await readFile(file, 'utf8')).split('\n');
      await writeFile(file, [...lines.slice(0, 3), sender, ''].join('\n'));
    }
  };
  const touched = async (minutesAgo: number) => {
    const at = Date.now() / 1000 - minutesAgo * 60;
    for (const file of await files()) await utimes(file, at, at);
  };
  of('alice', 'a').keep('iri:of-alice');
  for (const content of ['', '\0\0\0', '/relative']) {
    await writeFile((await files())[0] ?? '', content);
    t.is(of('alice', 'a').find(), undefined, 'a crash may leave anything');
  }
  of('alice', 'a').keep('iri:of-alice');
  of('bob', 'b').keep('iri:of-bob');
  t.deepEqual(given(), [], 'this process continues');
  const NOBODY = 2 ** 22; // no process has such a high number
  await sentBy(`${NOBODY} elsewhere`);
  t.deepEqual(given(), [], 'processes of another machine cannot be checked');
  await touched(11);
  t.deepEqual(given(), ['iri:of-alice'], 'a message would have arrived by now');
  await sentBy(`${NOBODY} ${hostname()}`);
  t.deepEqual(given(), ['iri:of-alice']);
  await touched(31 * 24 * 60);
  of('alice', 'c').keep('iri:of-today');
  t.is((await files()).length, 1);
  t.is(of('alice', 'c').find(), 'iri:of-today');
});
