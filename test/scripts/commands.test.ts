import { execFile } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import test from 'ava';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { assertAccepted, settings, type Wanted } from '../../src/operations/clients/client-settings.ts';
import { abandonedDeposits } from '../../src/operations/deposits/abandoned-deposits.ts';
import { depositsOfView } from '../../src/operations/deposits/deposits-of-view.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import { ViewFile } from '../../src/views/store/view-file.ts';
import type { ViewQuery } from '../../src/views/view.ts';
import { eventAt } from '../../testing/event-log/event-seen.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { runScript as run } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { secretCredential } from '../../testing/service/secret-password.ts';

test('a client added while the service runs can deposit at once, and no longer after it is disabled', async (t) => {
  await using running = await RunningService.start();
  const { folder, url } = running;
  const added = await run(folder, 'client', ['add', 'bob', '--collection', 'new', '--domain', 'bob.example']);
  t.is(added.code, 0, added.err);
  t.regex(added.out, /Opened the collection new, which did not exist yet/);
  const password = /Password, shown only now: (\S+)/.exec(added.out)?.[1] ?? '';
  t.true(password.length >= 20);
  const statusOf = async (secret: string) =>
    (await new TestClient(url, 'bob', secret).get('/1/servicedocument/')).status;
  t.is(await statusOf(password), 200, 'at once');

  t.is((await run(folder, 'client', ['passwd', 'bob', '--password-stdin'], { input: 'another\n' })).code, 0);
  t.is(await statusOf('another'), 200);
  t.is(await statusOf(password), 401);

  const set = ['set', 'bob', '--domain', 'https://Bob.example/', '--provider-url', 'https://bob.example/'];
  const printed = 'Domain of bob: bob.example\nProvider URL of bob: https://bob.example\n';
  t.is((await run(folder, 'client', set)).out, printed);

  t.regex((await run(folder, 'client', ['disable', 'bob'])).out, /bob is disabled/);
  t.is(await statusOf('another'), 401);
  t.regex((await run(folder, 'client', ['disable', 'bob'])).out, /already disabled/);

  const shown = await run(folder, 'client', ['show', 'bob', '--json']);
  const facts = {
    client: 'bob',
    disabled: true,
    collections: ['new'],
    domain: 'bob.example',
    provider_url: 'https://bob.example',
  };
  t.deepEqual(JSON.parse(shown.out), facts);
  t.deepEqual(JSON.parse((await run(folder, 'client', ['list', '--json'])).out), facts);
});

test('a described collection appears in the service document', async (t) => {
  await using running = await RunningService.start();
  const alice = await running.register('alice', { collections: ['software'] });
  const set = [
    'set',
    'software',
    '--title',
    'Soft & ware',
    '--accept',
    'application/zip',
    '--policy',
    'Ours.',
  ];
  t.is((await run(running.folder, 'collection', set)).code, 0);
  await until(async () => {
    const body = await (await alice.get('/1/servicedocument/')).text();
    return (
      body.includes('<atom:title>Soft &amp; ware</atom:title>') &&
      body.includes('Ours.') &&
      !body.includes('x-tar')
    );
  });
  t.regex((await run(running.folder, 'collection', ['list'])).out, /software: Soft & ware/);
});

test('a command on a client changes nothing if a part of it would be refused', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = await openLog({ eventLog: { kind: 'sqlite', file: path.join(folder, 'log.sqlite') } });
  const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
  const register = { type: 'RegisterClient', client: 'bob', credential: secretCredential } as const;
  const accepted = (wanted: Wanted, collections?: readonly string[]) =>
    assertAccepted(log, 'bob', [register, ...settings('bob', wanted)], collections);
  await accepted({ domain: 'bob.example', 'provider-url': '' }, ['new', 'new']);
  await t.throwsAsync(accepted({ domain: 'no domain' }), { code: 'BAD_DOMAIN' });
  await t.throwsAsync(accepted({ 'provider-url': 'ftp://x' }), { code: 'BAD_PROVIDER_URL' });
  await t.throwsAsync(accepted({}, ['new', 'no name!']), { code: 'BAD_COLLECTION_NAME' });
  await t.throwsAsync(assertAccepted(log, 'bob', [], ['new']), { code: 'CLIENT_UNKNOWN' });
  t.is(await log.head(), undefined);
  await administration.client(register);
  await t.throwsAsync(accepted({}), { code: 'CLIENT_EXISTS' });
});

test('operators who grant the same new collection at once both grant it, and one opens it', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = await openLog({ eventLog: { kind: 'sqlite', file: path.join(folder, 'log.sqlite') } });
  const granted = ['alice', 'bob'].map(async (client) => {
    const administration = new AdminCommands(log, { kind: 'operator', name: client });
    await administration.client({ type: 'RegisterClient', client, credential: secretCredential });
    return administration.grant(client, 'new');
  });
  t.is((await Promise.all(granted)).filter(({ opened }) => opened).length, 1);
});

test('a text that is printed next to a progress bar has a line of its own', async (t) => {
  const program = `
    import { say } from './src/operations/command/output.ts';
    import { ProgressBars } from './src/tools/terminal/progress-bar.ts';
    Object.defineProperty(process.stderr, 'isTTY', { value: true });
    using bars = new ProgressBars();
    bars.at('events read', 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    bars.at('events read', 2);
    say('first');
    say('second');`;
  const line = '"$0" --input-type=module --eval "$1" 2>&1';
  const { stdout } = await promisify(execFile)('sh', ['-c', line, process.execPath, program]);
  t.regex(stdout, /2 events read/);
  t.true(stdout.includes('\r\u001B[Kfirst\nsecond\n'), stdout);
});

test('a list of deposits has each once, whatever changes in the views meanwhile', async (t) => {
  const folder = await temporaryFolder(t);
  const written = openViewFile(path.join(folder, 'views.1.sqlite'), 'here', [{ name: 'v', version: 1 }]);
  t.teardown(() => written[Symbol.dispose]());
  let status = 'done';
  const write = (...ids: readonly number[]) => {
    const views = ids.map((depositId) => [String(depositId), { depositId, status }] as const);
    written.memory.take(new Map([['v', new Map(views)]]), eventAt(String(ids[0])));
    written.save();
  };
  const ids = Array.from({ length: 1200 }, (_, index) => index + 1);
  const table = written.table('v');
  let looked = 0;
  const view = {
    find: (query: ViewQuery) => {
      if (query.equal?.['key'] === undefined) looked += 1;
      return table.find(query);
    },
    numbers: (field: string, query: ViewQuery) => {
      looked += 1;
      return table.numbers(field, query);
    },
  };
  const listed = (limit: number) => {
    const found: number[] = [];
    for (const { depositId } of depositsOfView(view, {}, limit)) {
      if (found.push(depositId) === 1) write(2000, 2001, 2002);
    }
    return found;
  };
  write(...ids);
  t.deepEqual(listed(Infinity), ids.toReversed());
  t.is(looked, 1, 'the whole view is read once, however many deposits there are');
  const all = [2002, 2001, 2000, ...ids.toReversed()];
  t.deepEqual(listed(503), all.slice(0, 503));
  t.deepEqual(listed(500), all.slice(0, 500));
  const done = depositsOfView(view, { equal: { status: 'done' } });
  t.is(done.next().value?.depositId, 2002);
  status = 'failed';
  write(2001, 2000);
  t.is(done.next().value?.depositId, 1200, 'not those that are selected no longer');
});

test('no snapshot of the view is held open while abandoned deposits are deleted', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'views.1.sqlite');
  const written = openViewFile(file, 'here', [{ name: 'v', version: 1 }]);
  t.teardown(() => written[Symbol.dispose]());
  written.addLookups();
  const views = ['partial', 'done', 'partial', 'partial'].map((status, at) => {
    return [String(at), { depositId: at, revision: at, status, updatedAt: `2026-03-0${9 - at}` }] as const;
  });
  written.memory.take(new Map([['v', new Map(views)]]), eventAt('1'));
  written.save();
  using opened = new ViewFile(file);
  const looked = { find: opened.table('v').find.bind(opened.table('v')), snapshot: () => opened.snapshot() };
  const ids: number[] = [];
  for (const { depositId } of abandonedDeposits(looked, '2026-03-08')) {
    if (ids.push(depositId) > 1) continue;
    written.memory.take(
      new Map([['v', new Map([['9', { depositId: 9, status: 'partial', updatedAt: '2026-03-01' }]])]]),
      eventAt('2'),
    );
    written.save();
    using other = new DatabaseSync(file);
    t.like(other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get(), { busy: 0 });
  }
  t.deepEqual(ids, [3, 2]);
});
