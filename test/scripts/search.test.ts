import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import anyTest, { type TestFn } from 'ava';
import type { DepositLoaded } from '../../src/domain/deposit/events.ts';
import { isKnownType } from '../../src/operations/search/event-types.ts';
import { gitObjectId } from '../../src/swhid/git-object.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit } from '../../testing/http/made-deposits.ts';
import { jsonLines, type Ran, runScript } from '../../testing/processes/run-script.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Found = {
  deposit_id: number | null;
  revision: number;
  type: string;
  event_id: string;
  fields: string[];
  broken: string | null;
};
const test = anyTest as TestFn<{ service: RunningService; events: Found[]; context: string }>;

/** Alice's deposit 1 is done after a rejection, her deposit 2 is rejected; deposit 3 is Bob's, with the same files. */
test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], domain: 'alice.example' });
  const bob = await service.register('bob', { collections: ['software'] });
  for (const id of [1, 2]) {
    await makeDeposit(alice);
    await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  }
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: null });
  const retried = await runScript(service.folder, 'retry', ['1', '--recheck'], {
    env: { DEPOSIT_OPERATOR: 'rosa' },
  });
  t.is(retried.code, 0, retried.err);
  await alice.waitFor('/1/software/1/status/', 'done');
  await bob.post('/1/software/', helloTar, {
    ...archiveHeaders('hello.tar', 'application/x-tar'),
    ...partial,
  });
  const entry = entryXml(
    '<title>Hello</title><author><name>Bob</name></author><codemeta:version>2</codemeta:version>',
  );
  await bob.post('/1/software/3/metadata/', entry, {
    'Content-Type': 'application/atom+xml;type=entry',
    ...final,
  });
  const status = await bob.waitFor('/1/software/3/status/', 'done');
  const [, context = ''] = /<deposit_swh_id_context>([^<]+)/.exec(status) ?? [];
  t.context = { service, context, events: [] };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function search(service: RunningService, ...args: string[]): Promise<Ran & { found: Found[] }> {
  const ran = await runScript(service.folder, 'search', [...args, '--json']);
  return {
    ...ran,
    found: jsonLines<Found>(ran.out),
  };
}

const depositsOf = (found: Found[]) => [...new Set(found.map(({ deposit_id }) => deposit_id))];

test('a SWHID of any kind finds its deposits, also for a file inside, if its qualifiers match', async (t) => {
  const { service, context } = t.context;
  const [dir = ''] = context.split(';');
  const [, visit = ''] = /visit=(swh:1:snp:[0-9a-f]{40})/.exec(context) ?? [];
  const [, anchor = ''] = /anchor=(swh:1:rev:[0-9a-f]{40})/.exec(context) ?? [];
  const file = `swh:1:cnt:${gitObjectId('blob', Buffer.from('print("hello")\n'))}`;
  t.deepEqual(depositsOf((await search(service, dir)).found), [1, 3]);
  t.deepEqual(depositsOf((await search(service, context)).found), [3]);
  t.deepEqual(depositsOf((await search(service, visit)).found), [3]);
  t.deepEqual(depositsOf((await search(service, anchor)).found), [3]);
  const inside = await search(service, file);
  t.deepEqual(
    inside.found.map(({ deposit_id, fields }) => [deposit_id, fields]),
    [
      [1, ['path /hello/hello.py']],
      [3, ['path /hello/hello.py']],
    ],
  );
  t.deepEqual(
    depositsOf((await search(service, `${file};anchor=${anchor};path=/hello/hello.py`)).found),
    [3],
  );
  const elsewhere = await search(service, `${file};path=/other.py`);
  t.is(elsewhere.code, 1);
  t.deepEqual(elsewhere.found, []);
});

test('the path of a file is escaped as in a SWHID, whatever its bytes are', async (t) => {
  const { service } = t.context;
  const carol = await service.register('carol', { collections: ['software'] });
  const tar = tarOf([
    { name: 'é 文.c', data: 'in UTF-8' },
    { name: Buffer.from('caf\xe9.c', 'latin1'), data: 'in Latin-1' },
  ]);
  const form = formOf([archivePart(tar, 'c.tar', 'application/x-tar'), entryPart()]);
  const { headers } = await carol.post('/1/software/', form, { ...formType, ...final });
  await carol.waitFor(String(headers.get('location')).replace('metadata', 'status'), 'done');
  for (const [data, name] of [
    ['in UTF-8', '%C3%A9%20%E6%96%87.c'],
    ['in Latin-1', 'caf%E9.c'],
  ] as const) {
    const { found } = await search(service, `swh:1:cnt:${gitObjectId('blob', Buffer.from(data))}`);
    t.deepEqual(found[0]?.fields, [`path /${name}`]);
  }
});

test('digests, origins, and ids of events and correlations find their deposits', async (t) => {
  const { service } = t.context;
  const sha256 = createHash('sha256').update(helloZip).digest('hex');
  const byDigest = await search(service, sha256);
  t.deepEqual(depositsOf(byDigest.found), [1, 2]);
  t.true(byDigest.found.some(({ fields }) => fields.includes('archive.sha256')));
  const origin = `${service.url}/1/software/3/`;
  t.deepEqual(depositsOf((await search(service, origin)).found), [3]);
  const [event] = byDigest.found;
  const byId = await search(service, event?.event_id ?? '');
  t.deepEqual(
    byId.found.map(({ event_id, fields }) => [event_id, fields]),
    [[event?.event_id, ['id']]],
  );
});

test('events are found by type, client, actor, reason and time, and deposits that were accepted later', async (t) => {
  const { service } = t.context;
  const rejected = await search(service, '--type', 'DepositRejected', '--client', 'alice');
  t.deepEqual(depositsOf(rejected.found), [1, 2]);
  t.is((await search(service, '--type', 'DepositRejected', '--client', 'bob')).code, 1);
  const retried = await search(service, '--actor', 'rosa');
  t.deepEqual(
    retried.found.map(({ deposit_id, type }) => [deposit_id, type]),
    [[1, 'ChecksRetried']],
  );
  t.deepEqual(depositsOf((await search(service, '--reason', "client's domain name")).found), [1, 2]);
  t.deepEqual(depositsOf((await search(service, '--accepted-later')).found), [1]);
  t.is((await search(service, '--type', 'DepositRejected', '--until', '2020-01-01')).code, 1);
  t.is((await search(service, '--type', 'DepositRejected', '--since', '2020-01-01')).found.length, 2);
});

test('text output has a line per event and their count; wrong usage is reported', async (t) => {
  const { service } = t.context;
  const { out, err, code } = await runScript(service.folder, 'search', ['--accepted-later']);
  t.is(code, 0);
  t.regex(out, /^\S+Z {2}deposit 1 {2}#\d+ {2}DepositLoaded {2}reactor loader\n$/);
  t.regex(err, /1 event of 1 deposit\.\n$/);
  const limited = await runScript(service.folder, 'search', ['--client', 'alice', '--limit', '1']);
  t.regex(limited.err, /Stopped after 1 event; --limit shows more\./);
  for (const [args, message] of [
    [
      ['17'],
      '17 is neither a SWHID, a digest in hex, a UUID nor the URL of an origin. ' +
        '"deposit-service history 17" shows deposit 17.\n',
    ],
    [['alice'], 'alice is neither a SWHID, a digest in hex, a UUID nor the URL of an origin.\n'],
    [['swh:1:dir:12'], '“swh:1:dir:12” is not a core identifier.'],
    [['--since', 'yesterday'], '--since yesterday is neither a time as in 2026-03-01T10:00:00Z nor a date.'],
    [['--limit', '5'], 'WHAT or a condition is missing.'],
  ] as const) {
    const wrong = await runScript(service.folder, 'search', args);
    t.is(wrong.code, 2, wrong.err);
    t.true(wrong.err.includes(message), wrong.err);
  }
});

test('an altered event is marked, and the command ends with 1', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  await service.stop();
  using log = new DatabaseSync(path.join(service.folder, 'event-log.sqlite'));
  log.exec(`UPDATE events SET data = json_set(data, '$.client', 'mallory') WHERE type = 'ClientRegistered'`);
  const options = ['--type', 'ClientRegistered', '--type', 'CollectionGranted'];
  const { code, out, err } = await runScript(service.folder, 'search', options);
  t.is(code, 1);
  t.regex(
    out,
    /ClientRegistered .* !!! BROKEN: its contents do not fit its hash\.\n\S+ {2}client-alice .*(?<!hash\.)\n$/,
  );
  t.regex(err, /^Events that are not what was appended: 1\. Run "deposit-service verify"\.$/m);
  const { found, code: again } = await search(service, ...options);
  t.is(again, 1);
  t.deepEqual(
    found.map(({ broken }) => broken),
    ['its contents do not fit its hash', null],
  );
});

test('an event whose contents nest too deeply is named, and the others are searched', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [granted] = (await search(service, '--type', 'CollectionGranted')).found;
  await service.stop();
  using log = new DatabaseSync(path.join(service.folder, 'event-log.sqlite'));
  const [opening, closing] = ['[', ']'].map((bracket) => bracket.repeat(20_000));
  const data = `{"client":${opening}${closing}}`;
  log.prepare(`UPDATE events SET data = ? WHERE type = 'ClientRegistered'`).run(data);
  const { found, code, err } = await search(service, granted?.event_id ?? '');
  t.deepEqual(
    found.map(({ type }) => type),
    ['CollectionGranted'],
  );
  t.is(code, 1);
  t.regex(
    err,
    /^The ClientRegistered at revision 0 of client-alice was not searched: its contents nest deeper /,
  );
});

test('a type that this release does not know is named if nothing was found', async (t) => {
  const { service } = t.context;
  const types = ['--type', 'Nosuch', '--type', 'LoadingFailed'];
  const unknown = await search(service, ...types);
  t.deepEqual([unknown.code, unknown.err], [1, 'This release does not know the type Nosuch.\n']);
  const found = await search(service, ...types, '--type', 'DepositRejected');
  t.deepEqual([found.code, found.err], [0, '']);
});

test('all types of events that the service appends are known to search', (t) => {
  const root = path.join(import.meta.dirname, '../..');
  const appended = globSync('src/**/*.ts', { cwd: root })
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
    .filter((source) => /\bappend(After|NodeEvent)\(|[lL]og\.append\(/.test(source))
    .flatMap((source) => [...source.matchAll(/\btype: ((?:'[A-Z]\w+'(?: \| )?)+)/g)])
    .flatMap(([, names = '']) => names.replaceAll("'", '').split(' | '));
  t.true(appended.length > 10, appended.join());
  t.deepEqual(
    appended.filter((type) => !isKnownType(type)),
    [],
  );
});

test('a manifest that cannot be read is named, and the other deposits are searched', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const archives = [archivePart(), archivePart(helloTar, 'hello.tar', 'application/x-tar')];
  for (const [index, archive] of archives.entries()) {
    await alice.post('/1/software/', formOf([archive, entryPart()]), formType);
    await alice.waitFor(`/1/software/${index + 1}/status/`, 'done');
  }
  const events = await Array.fromAsync(service.service.log.readStream('deposit-1'));
  const loaded = events.find(({ type }) => type === 'DepositLoaded');
  const { manifest } = { ...loaded?.data } as DepositLoaded['data'];
  await service.stop();
  const file = `swh:1:cnt:${gitObjectId('blob', Buffer.from('print("hello")\n'))}`;
  using rows = new DatabaseSync(path.join(service.folder, 'archives', 'small.sqlite'));
  for (const [change, reason] of [
    [
      "UPDATE small_object SET bytes = x'00' WHERE sha256 = ?",
      `The object ${manifest} of the archive store holds`,
    ],
    ['DELETE FROM small_object WHERE sha256 = ?', `The archive store has no object ${manifest}.`],
  ] as const) {
    t.is(rows.prepare(change).run(manifest).changes, 1);
    const { found, code, err } = await search(service, file);
    t.deepEqual(depositsOf(found), [2], reason);
    t.is(code, 1, 'a deposit may be missing');
    t.true(err.startsWith(`The files of deposit 1 were not searched: ${reason}`), err);
    const histories = await runScript(service.folder, 'history', [file]);
    t.regex(histories.out, /\nDeposit 2 is done after \d+ events\. Every hash fits\.\n$/);
    t.is(histories.code, 1);
    t.true(histories.err.startsWith(`The files of deposit 1 were not searched: ${reason}`), histories.err);
  }
});
