import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { depositStatus } from '../../projections/deposit-status.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { duration } from '../../src/operations/command/arguments.ts';
import { UsageError } from '../../src/operations/command/command.ts';
import { isInside } from '../../src/operations/command/is-inside.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { describeFsError } from '../../src/tools/files/describe-fs-error.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import { eventAt } from '../../testing/event-log/event-seen.ts';
import { partial } from '../../testing/http/deposit-bodies.ts';
import { makeDeposit } from '../../testing/http/made-deposits.ts';
import { canSwitchUser } from '../../testing/processes/other-user.ts';
import { jsonLines, outcomeOf, runScript, startScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('invalid arguments of a command are refused with 2 before anything is done', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const before = await service.service.log.head();
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      'expire',
      ['--older-than', '0s', '2'],
      /^Only options are expected, not 2\. Is -- missing after the name of the command\?$/m,
    ],
    ['gc', ['--older-than', '1h', 'x'], /not x/],
    [
      'expire',
      ['--older-than', '-1d'],
      /^--older-than needs a value\. One that begins with a dash is given as --older-than=-VALUE\.\n$/,
    ],
    ['search', [''], /^"" is neither a SWHID, /],
    ['gc', ['--more-than-a-tenth'], /^--more-than-a-tenth needs --remove\.$/m],
    ['bind', ['x'], /not x/],
    [
      'restore',
      ['x', '--latest', '--last-complete'],
      /^--last-complete cannot be combined with --latest\.$/m,
    ],
    [
      'migrate',
      ['--from', 'sqlite:x', '--to', 'sqlite:y', '--log', 'sqlite:x'],
      /^--log applies to objects: it names their event log\.$/m,
    ],
    ['deposits', ['--status', 'faild'], /^--status must be one of partial, deposited, .*, not faild\.$/m],
    ['status', ['now'], /not now/],
    ['console', ['somebody-else'], /not somebody-else/],
    ['../bench/soak', ['x'], /not x/],
    ['../bench/consoles', ['x'], /not x/],
    ['../bench/generate-log', ['--data-dir', '/dev/null', 'x'], /not x/],
    ['demo', ['--what'], /--what/],
    ['collection', ['set', 'software'], /^Nothing to set: give one of --title, --abstract, /m],
    ['collection', ['set', 'software', '--title', '', '--abstract', 'X'], /^--title must not be empty\.$/m],
    ['collection', ['show', 'software', '--title', 'x'], /^show does not accept --title\.$/m],
    ['client', ['set', 'nobody'], /^Nothing to set: give --domain or --provider-url\.$/m],
    ['client', ['disable', 'alice', '--domain', 'x.example'], /^disable does not accept --domain\.$/m],
    ['client', ['webhook', 'alice', '--off', '--json'], /^--json needs --failures\.$/m],
    ['anchor', ['--public-key', '--json'], /^--public-key cannot be combined with --json\.$/m],
    ['parked', ['list', '--all'], /^list does not accept --all\.$/m],
    ['parked', ['list', 'x'], /not x/],
    [
      'parked',
      ['list', '--reactor', 'cook'],
      /^--reactor must be one of checker, loader, notifier, not cook\.$/m,
    ],
    [
      'migrate',
      ['--from', '@/nowhere', '--to', 'sqlite:x'],
      /^--from: \/nowhere cannot be opened: .* \(ENOENT\)\.$/m,
    ],
    ['export', ['--from', 'f'.repeat(16)], /^--from f{16} is not a position of this event log: /m],
    [
      'export',
      ['--from', `${'0'.repeat(15)}1-${'0'.repeat(15)}1`, '--stream', 'client-alice'],
      /is not a position of this event log/,
    ],
    ['test', ['--bogus'], /--bogus/],
    ['retry', ['--recheck'], /^Give ids of deposits, --status, --stuck or --reason\.$/m],
    [
      'retry',
      ['1', '--status', 'failed'],
      /^Ids of deposits, --status, --stuck and --reason cannot be combined\.$/m,
    ],
    ['nodes', ['forget'], /^NODE is missing\.$/m],
    ['nodes', ['list', 'x'], /not x/],
    ['retry', ['--status', 'done'], /^--status must be failed or rejected, not done\.$/m],
  ];
  for (const [command, args, message] of cases) {
    const { code, out, err } = await runScript(service.folder, command, args);
    t.is(code, 2, `${command} ${args.join(' ')}: ${err}`);
    t.regex(out + err, message);
    t.notRegex(err, /\n\s+at /);
  }
  t.is(await service.service.log.head(), before);
});

test('a command whose output is closed finishes its changes; one that only prints ends', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  for (const _ of [1, 2, 3]) await makeDeposit(alice, partial);
  t.deepEqual(await unheard(service.folder, 'status', ['--watch', '--json']), { code: 0, err: '' });
  t.deepEqual(await unheard(service.folder, 'expire', ['--older-than', '0s']), { code: 0, err: '' });
  for (const id of [1, 2, 3])
    t.is(
      (await Array.fromAsync(service.service.log.readStream(`deposit-${id}`))).at(-1)?.type,
      'DepositDeleted',
    );
});

test('a command that lists many ends once its reader has gone', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(path.join(folder, 'views'));
  using views = openViewFile(path.join(folder, 'views/views.1.sqlite'), 'here', [depositStatus]);
  const rows = Array.from({ length: 30_000 }, (_, at) => {
    const row = {
      depositId: at,
      status: 'done',
      statusDetail: '',
      updatedAt: '',
      client: 'a',
      collection: 'c',
    };
    return [String(at), { ...row, title: 'x'.repeat(500) }] as const;
  });
  views.memory.take(new Map([['deposit-status', new Map(rows)]]), eventAt('1'));
  views.addLookups();
  for (const [command, ...args] of [
    ['deposits', '--limit', '2999'],
    ['deposits', '--limit', '2999', '--json'],
    ['view', 'deposit-status'],
  ] as const) {
    const child = startScript(folder, command, args);
    const ended = once(child, 'close');
    await once(child.stdout!, 'readable');
    if (command === 'deposits') await setTimeout(500); // it waits for a slow reader
    child.stdout!.destroy();
    const err = (await buffer(child.stderr!)).toString();
    t.deepEqual([await ended, err], [[0, null], ''], `${command} has not come to its end`);
  }
});

test('a command whose exit code is a verdict ends with it although its output is closed', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const changes = 100; // more than are read from the log at once
  for (let change = 0; change < changes; change += 1)
    await service.administration.client({ type: 'SetDomain', client: 'alice', domain: `${change}.example` });
  await service.stop();
  {
    using database = new DatabaseSync(path.join(service.folder, 'event-log.sqlite'));
    database.exec(`UPDATE events SET data = '{}' WHERE type = 'ClientRegistered'`);
  }
  for (const [command, ...args] of [
    ['verify', '--all', '--json'],
    ['history', 'client:alice'],
  ] as const)
    t.is((await unheard(service.folder, command, args)).code, 1, command);
});

/** Runs a command whose output no process reads, as in `… | true`. */
async function unheard(dataDir: string, command: string, args: readonly string[]) {
  const child = startScript(dataDir, command, args);
  child.stdout?.destroy();
  const ended = once(child, 'close');
  const err = (await buffer(child.stderr!)).toString();
  const [code] = (await ended) as [number | null];
  return { code, err };
}

test('a duration must be one that a clock can subtract', (t) => {
  t.deepEqual(
    ['45s', '90m', '24h', '36500d'].map(duration),
    [45_000, 5_400_000, 86_400_000, 3_153_600_000_000],
  );
  for (const wrong of ['99999999999999d', '36501d', '1w', '-1d', '1.5h'])
    t.throws(() => duration(wrong), { instanceOf: UsageError }, wrong);
});

test('a file system error is one sentence with the file', async (t) => {
  const faultOf = async (fault: Promise<unknown>) => describeFsError(await t.throwsAsync(fault));
  const file = path.join(import.meta.filename, 'x');
  t.is(
    await faultOf(readFile('/nowhere/x')),
    '/nowhere/x cannot be opened: no such file or directory (ENOENT).',
  );
  t.is(await faultOf(mkdir(file)), `${file} cannot be made: not a directory (ENOTDIR).`);
  t.is(
    await faultOf(mkdir(import.meta.filename)),
    `${import.meta.filename} cannot be made: something else is in its place (EEXIST).`,
  );
  t.is(describeFsError(new Error('another')), undefined);
});

test('a write that a full disk refuses is one sentence with the file', async (t) => {
  const folder = await temporaryFolder(t);
  const root = path.join(import.meta.dirname, '../../src');
  const program = `
    import { describeFsError } from '${root}/tools/files/describe-fs-error.ts';
    import { makeKeyFile } from '${root}/tools/files/key-file.ts';
    import { writeFileAtomic } from '${root}/tools/files/write-file-atomic.ts';
    import { appendMissing } from '${root}/modules/anchors/anchor-file.ts';
    import { mkdirSync } from 'node:fs';
    import { writeWholeFile } from '${root}/operations/command/whole-file.ts';
    const text = 'x'.repeat(100_000);
    const { signal } = new AbortController();
    await makeKeyFile('key', text).catch((error) => console.log(describeFsError(error)));
    await writeFileAtomic('facts', text).catch((error) => console.log(describeFsError(error)));
    await writeWholeFile('export', (async function* () { yield text; })(), signal).catch((error) =>
      console.log(describeFsError(error)),
    );
    mkdirSync('elsewhere');
    const anchors = (async function* () { yield { root: text }; })();
    await appendMissing('elsewhere/anchors', anchors).catch((error) => console.log(describeFsError(error)));`;
  const limited = [
    '-c',
    'ulimit -f 1; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ];
  const { stdout } = await promisify(execFile)('sh', limited, { cwd: folder });
  t.deepEqual(
    stdout.trim().split('\n'),
    ['key', 'facts', 'export', 'elsewhere/anchors'].map(
      (file) => `${file} cannot be written to: file too large (EFBIG).`,
    ),
  );
  t.deepEqual(await readdir(folder), ['elsewhere']);
});

test('an output that cannot be written is one sentence, and a failure', async (t) => {
  if (!existsSync('/dev/full')) return t.pass('this system has no device that is always full');
  await using service = await RunningService.start();
  const bin = path.join(import.meta.dirname, '../../bin/deposit-service.js');
  for (const args of [['export'], ['status', '--json'], ['--help'], ['--version']]) {
    const line = ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, bin, ...args];
    const child = spawn('sh', line, { env: { ...process.env, DEPOSIT_DATA_DIR: service.folder } });
    t.deepEqual(
      await outcomeOf(child),
      {
        code: 1,
        out: '',
        err: 'Not all of the output could be written: ENOSPC: no space left on device, write.\n',
      },
      args.join(' '),
    );
  }
});

test('all rejected deposits are checked again by one command', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], domain: 'elsewhere.example' });
  for (const id of [1, 2]) {
    await makeDeposit(alice);
    await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  }
  const retry = (...args: string[]) => runScript(service.folder, 'retry', args);
  const refused = await retry('2', '--json');
  t.is(refused.code, 1);
  t.like(JSON.parse(refused.out), { deposit_id: 2, code: 'DEPOSIT_NOT_FAILED' });
  t.is((await retry('--status', 'failed')).out, 'No deposit is failed.\n');
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: null });
  await service.stop(); // so that its views do not see another command's changes
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: service.folder }));
    const other = new AdminCommands(log, { kind: 'operator', name: 'other' });
    await other.deposit(1, { type: 'RetryChecks', depositId: 1 });
  }
  const retried = await retry('--status', 'rejected', '--json');
  t.is(retried.code, 0, retried.out);
  t.deepEqual(jsonLines(retried.out), [
    { deposit_id: 1, event: 'ChecksRetried', attempt: 3 },
    { deposit_id: 2, event: 'ChecksRetried', attempt: 2 },
  ]);
  await service.startAgain();
  for (const id of [1, 2]) await alice.at(service.url).waitFor(`/1/software/${id}/status/`, 'done');
});

test('retry prints a deposit that cannot be read, goes on, and ends with 1', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], domain: 'elsewhere.example' });
  for (const id of [1, 2]) {
    await makeDeposit(alice);
    await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  }
  await service.stop(); // so that its views do not see the event of a newer release
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: service.folder }));
    const last = (await Array.fromAsync(log.readStream('deposit-1'))).at(-1);
    const metadata = { schemaVersion: 9, occurredAt: '2026-03-01T10:00:00.000Z' };
    const newer = { id: randomUUID(), type: 'ChecksRetried', data: { depositId: 1 }, metadata };
    await log.append('deposit-1', last?.revision ?? 'none', [newer]);
  }
  const retry = (...args: string[]) => runScript(service.folder, 'retry', args);
  const named = await retry('1', '2', '--recheck');
  t.like(named, { code: 1, out: 'Deposit 2: ChecksRetried, attempt 2.\n' });
  t.regex(named.err, /^Deposit 1 was not retried: A ChecksRetried of schema version 9 /);
  const found = await retry('--reason', 'URL_OUTSIDE_DOMAIN', '--json');
  t.is(found.code, 1, found.err);
  t.like(JSON.parse(found.out), { deposit_id: 1, code: 'UNREADABLE_EVENT' });
});

test('events name the person who ran a command as precisely as possible', async (t) => {
  await using service = await RunningService.start();
  const add = async (name: string, env: Record<string, string>) => {
    const { code, err } = await runScript(service.folder, 'client', ['add', name], { env });
    t.is(code, 0, err);
    const [event] = await Array.fromAsync(service.service.log.readStream(`client-${name}`));
    return event?.metadata['actor'];
  };
  t.deepEqual(await add('a', { SUDO_USER: 'rosa' }), { kind: 'operator', name: 'rosa' });
  const named = { SUDO_USER: 'rosa', DEPOSIT_OPERATOR: 'Rosa Luz' };
  t.deepEqual(await add('b', named), { kind: 'operator', name: 'Rosa Luz' });
  t.throws(() => readConfig({ DEPOSIT_OPERATOR: 'x\ny' }), {
    message: /DEPOSIT_OPERATOR=x\ny: must be a name/,
  });
});

const asRoot = canSwitchUser ? test : test.skip;
asRoot('a user without a name is named by its number', async (t) => {
  const url = path.join(import.meta.dirname, '../../src/config/read-config.ts');
  const program = `import(${JSON.stringify(url)}).then(({ readConfig }) => console.log(readConfig({}).operator))`;
  const child = spawn(process.execPath, ['--eval', program], { uid: 54_321, env: { HOME: '/nonexistent' } });
  const [out, err] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  t.is(out.toString(), 'uid-54321\n', err.toString());
});

test('a folder next to the data folder is not inside it, whatever its name', (t) => {
  for (const [folder, place, lies] of [
    ['/x/data', '/x/data', true],
    ['/x/data', '/x/data/k', true],
    ['/x/data/', '/x/data/../data/k', true],
    ['/x/data', '/x/data-keys/k', false],
    ['/x/data', '/x', false],
    ['/', '/k', true],
  ] as const) {
    t.is(isInside(folder, place), lies, `${folder} ${place}`);
  }
});

test('commands report errors with an exit code that separates usage from refusal', async (t) => {
  await using running = await RunningService.start();
  const { folder } = running;
  const cases: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['client', ['add'], 2, /NAME is missing/],
    ['client', ['frobnicate'], 2, /Unknown action 'frobnicate'/],
    ['client', ['add', 'x', '--what'], 2, /--what/],
    ['client', ['add', 'a:b'], 1, /not a client name/],
    [
      'client',
      ['add', 'carl', '--domain', 'carl.example', '--collection', 'no name!'],
      1,
      /cannot name a coll/,
    ],
    ['client', ['show', 'nobody'], 1, /Client nobody not found/],
    ['client', ['grant', 'nobody', 'c'], 1, /Client nobody not found/],
    ['collection', ['add', 'papers', '--accept', 'text/plain'], 1, /text\/plain/],
    ['collection', ['set', 'nowhere', '--title', 'x'], 1, /Collection nowhere not found/],
  ];
  for (const [command, args, code, message] of cases) {
    const ran = await runScript(folder, command, args);
    t.is(ran.code, code, `${command} ${args.join(' ')}: ${ran.err}`);
    t.regex(ran.err, message);
    t.notRegex(ran.err, /\n\s+at /, 'no stack for an error that a user can correct');
  }
  const carl = await Array.fromAsync(running.service.log.readStream('client-carl'));
  t.deepEqual(carl, [], 'the password of a new client is printed');
  t.deepEqual(await Array.fromAsync(running.service.log.readStream('collection-papers')), []);
  for (const command of ['client', 'collection']) {
    const help = await runScript(folder, command, ['--help']);
    t.is(help.code, 0);
    t.regex(help.out, /deposit-service \w+ add NAME/);
  }
});
