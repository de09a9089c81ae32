import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import anyTest, { type TestFn } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { chainHash, sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { UsageError } from '../../src/operations/command/command.ts';
import { printHistory } from '../../src/operations/history/print-history.ts';
import { gitObjectId } from '../../src/swhid/git-object.ts';
import {
  archiveHeaders,
  entryHeaders,
  entryXml,
  final,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { type Ran, runScript } from '../../testing/processes/run-script.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = { service: RunningService };
const test = anyTest as TestFn<Context>;
const entry = entryXml(
  '<title>He\u202ello</title><author><name>Ada</name></author><codemeta:url>https://ada.example/</codemeta:url>',
);

/** Deposit 1 was loaded after a rejection; deposit 2 was deleted. */
test.before(async (t) => {
  const service = await RunningService.start();
  t.context = { service };
  const options = { collections: ['software'], domain: 'alice.example' };
  const alice = await service.register('alice', options);
  await longWay(service, alice);
  await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  await alice.delete('/1/software/2/metadata/');
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function longWay(service: RunningService, alice: TestClient): Promise<void> {
  const deposit = '/1/software/1';
  await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial, Slug: 'hello' });
  await alice.post(`${deposit}/media/`, helloTar, archiveHeaders('docs.tar', 'application/x-tar'));
  await alice.post(`${deposit}/metadata/`, entry, { ...entryHeaders(), ...partial });
  await alice.put(`${deposit}/metadata/`, entry, { ...entryHeaders(), ...partial });
  await alice.post(`${deposit}/metadata/`, null, final);
  await alice.waitFor(`${deposit}/status/`, 'rejected');
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: 'ada.example' });
  const command = { type: 'RetryChecks', depositId: 1 } as const;
  const actor = { kind: 'operator', name: 'rosa' } as const;
  const ids = { commandId: randomUUID(), correlationId: randomUUID() };
  await handleCommand(service.service.log, deposits, 1, command, {
    ...ids,
    actor,
    now: new Date().toISOString(),
  });
  await alice.waitFor(`${deposit}/status/`, 'done');
}

/** Prints a history while the service runs, like the command. */
async function history(dataDir: string, ...args: string[]): Promise<Ran> {
  const lines: Record<'out' | 'err', string[]> = { out: [], err: [] };
  const code = await printHistory(args, readConfig({ DEPOSIT_DATA_DIR: dataDir }), {
    say: (line) => lines.out.push(`${line}\n`),
    warn: (line) => lines.err.push(`${line}\n`),
  });
  return { code, out: lines.out.join(''), err: lines.err.join('') };
}

test('a person reads who changed a deposit and its state then, in lines that fit a terminal', async (t) => {
  const { code, out, err } = await history(t.context.service.folder, '1');
  t.is(code, 0, err);
  const entryName = `"He\\u202ello" by Ada (${Buffer.byteLength(entry)} bytes)`;
  const lines = out
    .split('\n\n')
    .map((event) => event.split('\n'))
    .map(([head = '', sentence = '']) => [head.replace(/ {2}\d{4}-\S+ \S+Z/, ''), sentence.trim()]);
  t.deepEqual(lines.slice(0, -1), [
    ['#0  client alice  → partial', 'Deposit created in the collection software.'],
    ['#1  client alice  → partial', `Archive hello.zip added (${helloZip.length} bytes).`],
    ['#2  client alice  → partial', 'Archive docs.tar added (2,048 bytes).'],
    ['#3  client alice  → partial', `Metadata added: ${entryName}.`],
    ['#4  client alice  → partial', `All metadata replaced by ${entryName}.`],
    ['#5  client alice  → deposited', 'Deposit completed by the client.'],
    ['#6  reactor checker  → rejected', 'Deposit rejected by check 1 for 1 reason.'],
    ['#7  operator rosa  → deposited', 'Re-check requested (check 2).'],
    ['#8  reactor checker  → verified', 'Deposit passed check 2: 2 files of 30 bytes in 2 archives.'],
    ['#9  reactor loader  → loading', 'Loading started: load 1.'],
    ['#10  reactor loader  → done', 'Deposit loaded: 1 file of 15 bytes.'],
  ]);
  t.regex(out, /\nDeposit 1 is done after 11 events\. Every hash fits\.\n$/);
  t.regex(out, / slug: hello\n/);
  t.regex(out, / sha256: [0-9a-f]{64}\n/);
  t.notRegex(out, /…/, 'no digest is truncated');
  t.regex(out, / archives now: hello\.zip, docs\.tar\n/);
  t.regex(
    out,
    / reason: At least one url field must be compatible .*\n {6}\| \(codemeta:url\): expected alice\.example/,
  );
  t.regex(out, / reasons now: none\n/);
  t.regex(out, / directory: swh:1:dir:[0-9a-f]{40}\n/);
  t.is(
    out.match(/correlation: [0-9a-f-]{36}/g)?.length,
    6,
    'one for each request, none for its consequences',
  );
  for (const line of out.split('\n')) t.true(line.length <= 100, line);
});

test('JSON output has the same facts, one object per line, with full digests and changes', async (t) => {
  const { code, out } = await history(t.context.service.folder, '1', '--json');
  t.is(code, 0);
  const events = out.trimEnd().split('\n').map(parsed);
  t.deepEqual(
    events.map(({ revision }) => revision),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  const [, added, , , , completed, rejected, retried] = events;
  t.like(added, { type: 'ArchiveAdded', stream: 'deposit-1', status: 'partial', broken: null });
  t.regex(JSON.stringify(added?.['data']), /"sha256":"[0-9a-f]{64}"/);
  t.deepEqual(Object.keys(added?.['changed'] as object), ['archives', 'archives_ever', 'changes']);
  t.like(completed, { actor: { kind: 'client', name: 'alice' }, status: 'deposited' });
  t.like(rejected, { causation_id: completed?.['event_id'], correlation_id: completed?.['correlation_id'] });
  t.like(retried, {
    actor: { kind: 'operator', name: 'rosa' },
    changed: { check_attempt: 2, reasons: null },
  });
  t.true(out.includes('He\\u202ello'), 'characters that change the direction are escaped');
});

test('a deposit is shown as after an event, and as at a time', async (t) => {
  const { folder } = t.context.service;
  const [partly, whole] = [await history(folder, '1', '--at', '2'), await history(folder, '1', '--at', '10')];
  t.is(partly.code, 0, partly.err);
  t.regex(partly.out, /^Deposit 1 at \S+ \S+, after event 2\n {2}status +partial\n/);
  t.regex(partly.out, /\n {2}archives +hello\.zip \(\d+ bytes, sha256\n +\| [0-9a-f]{64}\)\n +docs\.tar \(/);
  t.regex(partly.out, /\n {2}metadata +none\n/);
  t.regex(partly.out, /\n {2}last event +#2 Archive docs\.tar added .*\n +by client alice\n/);
  t.notRegex(partly.out, /identifiers/);
  t.regex(whole.out, /\n {2}identifiers +swh:1:dir:[0-9a-f]{40}\n +swh:1:rev:[0-9a-f]{40}\n/);

  const state = parsed((await history(folder, '1', '--at', '6', '--json')).out);
  t.like(state, { stream: 'deposit-1', revision: 6, status: 'rejected', client: 'alice', check_attempt: 1 });
  t.like(state['actor'], { name: 'checker' });
  const moment = String(state['occurred_at']);
  t.like(parsed((await history(folder, '1', '--at', moment, '--json')).out), { revision: 6 });
  const earlier = new Date(Date.parse(moment) - 1).toISOString();
  const shifted = earlier.replace('Z', '+00:00');
  t.like(parsed((await history(folder, '1', '--at', shifted, '--json')).out), { status: 'deposited' });
});

test('the histories of the deposits with a SWHID, a digest or the id of an event are printed', async (t) => {
  const { folder } = t.context.service;
  const events = (await history(folder, '1', '--json')).out.trimEnd().split('\n').map(parsed);
  const { directory, origin } = Object(events.at(-1)?.['data']) as Record<string, string>;
  const { archive } = Object(events[1]?.['data']) as { archive: { sha256: string } };
  const whole = (await history(folder, '1')).out;
  for (const named of [`swh:1:dir:${directory};origin=${origin}`, events[4]?.['event_id'] as string]) {
    const { code, out, err } = await history(folder, named);
    t.deepEqual([code, out, err], [0, whole, ''], named);
  }
  const inside = gitObjectId('blob', Buffer.from('print("hello")\n'));
  t.is((await history(folder, `swh:1:cnt:${inside}`)).out, whole, 'a file is found in the manifest');
  const both = await history(folder, archive.sha256);
  t.is(both.code, 0, both.err);
  t.is(both.err, `${archive.sha256} is in 2 deposits: Deposit 1, Deposit 2.\n`);
  t.is(both.out, whole + (await history(folder, '2')).out);
  const early = await history(folder, archive.sha256, '--at', '5');
  t.is(early.code, 1);
  t.regex(early.out, /^Deposit 1 at .*, after event 5\n/);
  t.regex(early.err, /\nDeposit 2 has no event 5: its last one is 2\.\n$/);
  await t.throwsAsync(history(folder, `swh:1:cnt:${'0'.repeat(40)}`), {
    message: /^No deposit has swh:1:cnt:0+\.$/,
  });
});

test('a deleted deposit retains its history, which shows the deletion', async (t) => {
  const { code, out } = await history(t.context.service.folder, '2');
  t.is(code, 0);
  t.regex(out, /Deposit deleted\.\n {6}reason: Deleted by the client\.\n/);
  t.regex(out, /\nDeposit 2 was deleted after 3 events: it is no longer shown, but its history stays\./);
});

test('clients and collections have histories without credentials', async (t) => {
  const { folder } = t.context.service;
  for (const args of [
    ['client:alice'],
    ['client:alice', '--json'],
    ['client:alice', '--at', '0', '--json'],
  ]) {
    const { code, out } = await history(folder, ...args);
    t.is(code, 0);
    t.notRegex(out, /salt|digest|scrypt/);
    t.true(args.includes('--json') || out.includes('Client alice registered with a password.'));
  }
  const { out } = await history(folder, 'collection:software');
  t.regex(out, /operator test {2}→ open\n {4}Collection software opened\.\n/);
});

test('the command exits with 0, with 1 and a message for unknown items, with 2 for wrong usage', async (t) => {
  const { folder } = t.context.service;
  const lines = await runScript(folder, 'history', ['2', '--at', '0']);
  t.is(lines.code, 0, lines.err);
  t.regex(lines.out, /^Deposit 2 at .*, after event 0\n/);
  const unknown = await runScript(folder, 'history', ['999']);
  t.deepEqual(unknown, { code: 1, out: '', err: 'Deposit 999 not found.\n' });
  const wrong = await runScript(folder, 'history', ['1', '--at', 'yesterday']);
  t.is(wrong.code, 2);
  t.regex(wrong.err, /^--at yesterday is neither a revision nor a time such as .*\n$/);
});

test('an unreadable history is refused with a message', async (t) => {
  const { folder } = t.context.service;
  const cases: readonly (readonly [string[], RegExp, usage?: 'usage'])[] = [
    [['client:nobody', '--json'], /^Client nobody not found\.$/],
    [['collection:nothing'], /^Collection nothing not found\.$/],
    [['1', '--at', '11'], /has no event 11: its last one is 10\./],
    [['1', '--at', '2001-01-01T00:00:00Z'], /did not exist yet: its history begins at 2/],
    [['1', '--at', '2026-02-30T00:00:00Z'], /neither a revision nor a time/, 'usage'],
    [['1', '--at', '2026-02-01'], /neither a revision nor a time/, 'usage'],
    [
      ['alice'],
      /^alice is neither the number of a deposit, client:NAME, collection:NAME, person:NAME, a SWHID, a digest in hex, a UUID nor the URL of an origin\.$/,
      'usage',
    ],
    [['0'], /^0 is neither the number of a deposit, client:NAME, /, 'usage'],
    [['collection:'], /^collection: is neither the number of a deposit, client:NAME, /, 'usage'],
    [['1', '2'], /Only one/, 'usage'],
    [['--json'], /is missing/, 'usage'],
  ];
  for (const [args, message, usage] of cases) {
    const error = await t.throwsAsync<Error & { code?: string }>(history(folder, ...args), { message });
    t.is(error instanceof UsageError, usage === 'usage', args.join(' '));
  }
  const nowhere = path.join(folder, 'nowhere');
  await t.throwsAsync(history(nowhere, '1'), { message: /^No event log at .*nowhere/ });
  t.false(existsSync(nowhere));
});

const forgeries: Readonly<Record<string, readonly [change: string, at: number, mark: RegExp]>> = {
  'other data': [
    `UPDATE events SET data = replace(data, 'hello.zip', 'other.zip') WHERE stream = $stream AND revision = 1`,
    1,
    /its contents do not fit its hash/,
  ],
  'data that make no sense': [
    `UPDATE events SET data = '{}' WHERE stream = $stream AND revision = 1`,
    1,
    /its contents do not fit its hash/,
  ],
  'an unknown type': [
    `UPDATE events SET type = 'Forged' WHERE stream = $stream AND revision = 1`,
    1,
    /its contents do not fit its hash/,
  ],
  'another actor': [
    `UPDATE events SET metadata = json_set(metadata, '$.actor.name', 'mallory') WHERE stream = $stream AND revision = 2`,
    2,
    /its contents do not fit its hash/,
  ],
  'no hash': [
    `UPDATE events SET metadata = json_remove(metadata, '$.hash') WHERE stream = $stream AND revision = 1`,
    1,
    /it carries no hash/,
  ],
  'an event before the first position': [
    `UPDATE events SET position = -5 WHERE stream = $stream AND revision = 1`,
    1,
    /its position in the log is not after that of the previous event/,
  ],
  'an event cut out': [
    `DELETE FROM events WHERE stream = $stream AND revision = 1`,
    2,
    /it is event 2 where 1 was expected/,
  ],
  'data that nest too deeply': [
    `UPDATE events SET data = '{"a":' || replace(hex(zeroblob(20000)), '00', '[') || replace(hex(zeroblob(20000)), '00', ']') || '}' WHERE stream = $stream AND revision = 1`,
    1,
    /its contents nest deeper than those of any event/,
  ],
};

test('a manipulated history is clearly marked and exits with 1', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const untouched = Object.keys(forgeries).length + 1;
  for (let id = 1; id <= untouched; id += 1) {
    await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
    await alice.post(`/1/software/${id}/media/`, helloTar, archiveHeaders('docs.tar', 'application/x-tar'));
  }
  await service.stop();
  for (const [index, [what, [change, at, mark]]] of Object.entries(forgeries).entries()) {
    const id = String(index + 1);
    forge(path.join(service.folder, 'event-log.sqlite'), `deposit-${id}`, change);
    const { code, out, err } = await history(service.folder, id);
    t.is(code, 1, what);
    t.regex(out, new RegExp(`#${at} .*\n {4}!!! BROKEN: ${mark.source}`), what);
    t.regex(err, new RegExp(`THE HISTORY OF DEPOSIT ${id} IS BROKEN at .*#${at}`), what);
    t.notRegex(out, /Every hash fits/);
    const json = await history(service.folder, id, '--json');
    t.is(json.code, 1);
    t.true(
      json.out
        .trimEnd()
        .split('\n')
        .map(parsed)
        .some(({ broken }) => mark.test(String(broken))),
      what,
    );
    t.is((await history(service.folder, id, '--at', String(at))).code, 1, 'also in its earlier state');
    t.is((await history(service.folder, id, '--at', '0')).code, 0, 'the beginning is unchanged');
  }
  t.is((await history(service.folder, '3', '--at', '1')).code, 1);
  t.is((await history(service.folder, '7', '--at', '1')).code, 1, 'at the removed event');
  t.is((await history(service.folder, String(untouched))).code, 0, 'others are unchanged');
  forge(
    path.join(service.folder, 'event-log.sqlite'),
    `deposit-${untouched}`,
    'UPDATE events SET data = substr(data, 2) WHERE stream = $stream AND revision = 1',
  );
  const damaged = await runScript(service.folder, 'history', [String(untouched)]);
  t.is(damaged.code, 1);
  t.regex(damaged.out, /^#0 [^#]*$/, 'earlier events are shown');
  t.regex(damaged.err, /^The event at position \S+ .* is corrupt/);
  const before = await history(service.folder, String(untouched), '--at', '0');
  t.deepEqual([before.code, before.err], [0, ''], 'the earlier state is shown as before');
  await t.throwsAsync(history(service.folder, String(untouched), '--at', '1'), { code: 'LOG_DAMAGED' });
});

test('an unknown event type with a valid hash is reported as unknown', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const { log } = service.service;
  const [last] = (await Array.fromAsync(log.readStream('deposit-1'))).slice(-1);
  const event = { id: randomUUID(), type: 'DepositBlessed', data: {}, metadata: { schemaVersion: 1 } };
  const [revision, hash] = [last?.revision ?? 'none', chainHash(last ?? event)] as const;
  await log.append('deposit-1', revision, sealAfter('deposit-1', revision, hash, [event]));
  const { code, out, err } = await history(service.folder, '1');
  t.is(code, 1);
  t.regex(out, /\n {4}\?\?\? UNKNOWN to this release: There is no event type DepositBlessed\.\n/);
  t.regex(out, / Every hash fits\.\n$/);
  t.is(err, 'Deposit 1 has events that this release does not know, at #2. Their hashes fit.\n');
  const json = parsed((await history(service.folder, '1', '--json')).out.trimEnd().split('\n').at(-1) ?? '');
  t.like(json, { broken: null, unknown: 'There is no event type DepositBlessed.' });
});

function forge(file: string, stream: string, change: string): void {
  using database = new DatabaseSync(file);
  const { id } = database.prepare('SELECT id FROM streams WHERE name = ?').get(stream) as { id: number };
  database.prepare(change).run({ $stream: id });
}

function parsed(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}
