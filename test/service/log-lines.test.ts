import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  final,
  formOf,
  formType,
  helloEntry,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { keptLines, type Line } from '../../testing/service/kept-lines.ts';
import { deposit, notify, temporaryKey } from '../../testing/service/notified-service.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

/** Starts a service whose log lines are recorded. */
async function logged(t: ExecutionContext, overrides: Partial<Config> = {}) {
  const { logger, lines } = keptLines();
  const service = await RunningService.start(overrides, logger);
  t.teardown(() => service[Symbol.asyncDispose]());
  const line = async (message: string): Promise<Line> => {
    await until(async () => lines.some(({ msg }) => msg === message));
    return lines.find(({ msg }) => msg === message) as Line; // the line above waits for it
  };
  return { service, lines, line };
}

test('a failed write to the store logs engine and cause with the id of its request', async (t) => {
  const { service, lines, line } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const incoming = path.join(service.folder, 'archives', 'incoming');
  await rename(incoming, `${incoming}-away`);
  const large = zipOf([{ name: 'noise', data: randomBytes(200_000) }]); // small ones are rows of a table
  const answer = await alice.post('/1/software/', large, { ...archiveHeaders(), ...final });
  t.is(answer.status, 503);
  await answer.text();
  const entry = await line('unavailable');
  t.like(entry, { level: 'warn', method: 'POST', path: '/1/software/', code: 'ARCHIVE_STORE_UNAVAILABLE' });
  t.is(entry['requestId'], answer.headers.get('x-request-id'));
  t.regex(JSON.stringify(entry['err']), /ENOENT.*archives\/incoming/);
  await rename(`${incoming}-away`, incoming);
  t.notRegex(JSON.stringify(lines), /Basic |authorization/i);
});

test('an unexpected error is logged with the id of its request', async (t) => {
  const { service, line } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  for await (const { sha256 } of service.service.store.list()) await service.service.store.remove(sha256);
  const answer = await alice.get('/1/software/1/media/');
  t.is(answer.status, 500);
  const entry = await line('unexpected error');
  t.like(entry, { level: 'error', path: '/1/software/1/media/' });
  t.is(entry['requestId'], answer.headers.get('x-request-id'));
});

test('a client that disconnects before its entry is read is no unexpected error', async (t) => {
  const { service, lines } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const created = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  using connection = await RawConnection.to(service.url);
  const coming = { Expect: '100-continue', 'Transfer-Encoding': 'chunked' };
  await connection.send(requestHead(`POST ${edit}`, alice, coming));
  t.is((await connection.answers(1)).status, 100);
  connection.reset();
  const ended = (): boolean => lines.some(({ msg, path }) => msg === 'request' && path === edit);
  await until(async () => ended());
  await until(async () => (await alice.get('/1/servicedocument/')).status === 200);
  t.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a start removes incoming files of killed processes that are an hour old', async (t) => {
  const { service, lines } = await logged(t);
  await service.stop();
  const incoming = path.join(service.folder, 'archives', 'incoming');
  const long = Date.now() / 1000 - 61 * 60;
  for (const name of ['old', 'young']) await writeFile(path.join(incoming, name), 'cut off');
  await utimes(path.join(incoming, 'old'), long, long);
  await service.startAgain();
  t.deepEqual(await readdir(incoming), ['young']);
  t.like(
    lines.find(({ msg }) => msg === 'temporary archives of a killed process removed'),
    { files: 1 },
  );
});

test('a corrupt store does not count as an empty one, and its readable objects are served', async (t) => {
  const { service, lines } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const [small, large] = [Buffer.from('a'), randomBytes(200_000)].map((data) => zipOf([{ name: 'a', data }]));
  for (const archive of [small, large])
    await alice.post('/1/software/', archive ?? '', { ...archiveHeaders(), ...partial });
  await service.stop();
  const file = path.join(service.folder, 'archives', 'small.sqlite');
  const bytes = await readFile(file);
  const pageSize = bytes.readUInt16BE(16);
  await writeFile(file, bytes.fill(0xee, pageSize, 2 * pageSize)); // where its table begins
  await service.startAgain();
  t.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
  const stored = await alice.at(service.url).get('/1/software/2/media/');
  t.deepEqual(Buffer.from(await stored.arrayBuffer()), large);
});

test('a long name of a failed login is cut to text that every reader of JSON accepts', async (t) => {
  const { service, line } = await logged(t);
  const beginning = 'a'.repeat(99);
  await new TestClient(service.url, `${beginning}\u{1f512}${beginning}`).get('/1/servicedocument/');
  t.is((await line('login failed'))['client'], `${beginning}\ufffd`);
});

test('an aborted check is logged with its archive and the reason', async (t) => {
  const { archiveLimits } = readConfig({});
  const { service, line } = await logged(t, {
    archiveLimits: { ...archiveLimits, wallTime: 1, wallBytesPerMs: 1e9 },
  });
  const alice = await service.register('alice', { collections: ['software'] });
  const slow = gzipSync(tarOf([{ name: 'slow/zeros', data: Buffer.alloc(40 * 1024 ** 2) }]), { level: 1 });
  const part = archivePart(slow, 'slow.tar.gz', 'application/x-tar');
  await alice.post('/1/software/', formOf([part, entryPart()]), { ...formType, ...final });
  await alice.waitFor('/1/software/1/status/', 'rejected');
  const entry = await line('check of an archive aborted');
  t.is(entry.level, 'warn');
  t.regex(JSON.stringify(entry['archives']), /^\["[0-9a-f]{64}"\]$/);
  t.regex(JSON.stringify(entry['err']), /It took more than \d+ ms/);
});

test('unsent notifications that cannot be read are logged with client and deposit', async (t) => {
  const keyFile = await temporaryKey(t);
  const { webhooks } = readConfig({});
  const hasty = { ...webhooks, keyFile, allowPrivate: true, firstPause: 20, longestPause: 200 };
  const { service, line } = await logged(t, { webhooks: hasty });
  const alice = await service.register('alice', { collections: ['software'] });
  await using receiver = await WebhookReceiver.start();
  await receiver.down();
  await notify(service, 'alice', receiver, keyFile);
  const id = await deposit(alice, 'software');
  const { log } = service.service;
  const stream = `notifications-${id}`;
  await until(async () => (await Array.fromAsync(log.readStream(stream))).length > 0);
  // An event of a later release, for example: no node of this release can process it.
  const last = (await Array.fromAsync(log.readStream(stream, { backwards: true, limit: 1 })))[0];
  if (!last) return t.fail();
  const event = { id: randomUUID(), type: 'NotificationFolded', data: {}, metadata: { schemaVersion: 1 } };
  const append = (revision: number) =>
    log.append(stream, revision, sealAfter(stream, revision, null, [event]));
  for (let revision = last.revision; ; revision += 1) {
    const isIn = await append(revision).then(
      () => true,
      () => false, // another try was recorded meanwhile
    );
    if (isIn) break;
  }
  t.like(await line('retry of notifications failed'), { level: 'warn', client: 'alice', depositId: id });
});
