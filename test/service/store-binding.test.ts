import { randomUUID } from 'node:crypto';
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { copyEvents } from '../../src/operations/copy/log-copy.ts';
import { openBoundStore } from '../../src/service/backends/bound-store.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { appendBinding, BINDINGS, boundStore } from '../../src/service/backends/store-binding.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Ids = { readonly log: string | undefined; readonly store: string | undefined };

async function idsIn(folder: string): Promise<Ids> {
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await using log = await openLog(config, { readOnly: true });
  await using store = await openStore(config);
  return { log: await boundStore(log), store: await store.id() };
}

async function deposited(service: RunningService): Promise<RunningService> {
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  return service;
}

/** Makes a stopped service with one deposit, which names four objects. */
async function stoppedService(t: ExecutionContext): Promise<string> {
  const service = await RunningService.start();
  t.teardown(() => rm(service.folder, { recursive: true, force: true }));
  await deposited(service);
  await service.stop();
  return service.folder;
}

test('log and store get the same id at the first start, once', async (t) => {
  await using service = await RunningService.start();
  const { id } = await onlyBinding(service);
  await service.stop();
  await service.startAgain();
  t.is((await onlyBinding(service)).id, id);
  const { log, store } = await idsIn(service.folder);
  t.truthy(log);
  t.is(log, store);
});

test('nodes that start concurrently agree on one id', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  const stores = await Promise.all(Array.from({ length: 4 }, () => openBoundStore(config, log)));
  const ids = await Promise.all(stores.map((store) => store.id()));
  t.deepEqual(new Set(ids), new Set([await boundStore(log)]));
  for (const store of stores) await store[Symbol.asyncDispose]();
});

for (const kind of ['s3', 'file'] as const) {
  test(`of nodes that start at once on a new log and two stores only those of one store do (${kind})`, async (t) => {
    await using log = new MemoryEventLog();
    const places = await newStores(t, kind);
    const all = [...places, ...places, ...places];
    const started = await Promise.allSettled(all.map((place) => openBoundStore(place, log)));
    for (const outcome of started) {
      if (outcome.status === 'rejected') t.like(outcome.reason, { code: 'OTHER_STORE' });
      else {
        t.is(await outcome.value.id(), await boundStore(log));
        await outcome.value[Symbol.asyncDispose]();
      }
    }
    const ofFirst = started.map(({ status }, at) => (status === 'fulfilled') === (at % 2 === 0));
    t.is(new Set(ofFirst).size, 1, 'all nodes of one store and none of the other');
    const refused = places[ofFirst[0] ? 1 : 0];
    await t.throwsAsync(openBoundStore(refused, log), { code: 'OTHER_STORE' }, 'and when they start again');
  });

  test(`a first start that is killed before or after its event is continued on its own store only (${kind})`, async (t) => {
    await using log = new MemoryEventLog();
    const [own, other] = await newStores(t, kind);
    const [before, after] = [randomUUID(), randomUUID()];
    for (const place of [own, other]) {
      await using killed = await openStore(place);
      await killed.proposeId(before);
    }
    {
      await using killed = await openStore(own);
      await killed.proposeId(after);
      await appendBinding(log, after, undefined);
    }
    const reason = new RegExp(`belongs to the archive store ${after}, but the archive store has no id`);
    await t.throwsAsync(openBoundStore(other, log), { code: 'OTHER_STORE', message: reason });
    await using store = await openBoundStore(own, log);
    t.is(await store.id(), after);

    await using unbound = new MemoryEventLog();
    await using first = await openBoundStore(other, unbound);
    t.is(await first.id(), await boundStore(unbound), 'killed before its event');
    t.not(await first.id(), before);
    t.is(await first.sweepIncoming(new Date(Date.now() + 60_000)), 1, 'what the killed one left');
  });
}

test('a service and commands whose log and store differ are refused with both ids, and remove nothing', async (t) => {
  const [one, other] = [await stoppedService(t), await stoppedService(t)];
  const [mine, theirs] = [await idsIn(one), await idsIn(other)];
  const archives = path.join(other, 'archives');
  const before = await objectsIn(archives);
  const both = new RegExp(
    `belongs to the archive store ${mine.log}, but the archive store has the id ${theirs.store}`,
  );
  await t.throwsAsync(RunningService.startIn(one, { archiveStore: { kind: 'file', folder: archives } }), {
    code: 'OTHER_STORE',
    message: both,
  });
  const env = { DEPOSIT_ARCHIVE_STORE: `file:${archives}` };
  const elsewhere = await temporaryFolder(t);
  for (const [command, args] of [
    ['gc', ['--remove', '--more-than-a-tenth', '--older-than', '0s']],
    ['backup', ['--init', elsewhere]],
    ['migrate', ['--from', `file:${archives}`, '--to', `file:${elsewhere}/archives`]],
  ] as const) {
    const ran = await runScript(one, command, args, { env });
    t.is(ran.code, 1, command);
    t.regex(ran.err, both, command);
  }
  t.deepEqual(await objectsIn(archives), before);
  t.false((await readdir(elsewhere)).includes('archives'));
  const back = ['--from', `file:${archives}`, '--to', `file:${one}/archives`];
  const onto = await runScript(other, 'migrate', back);
  t.is(onto.code, 1, 'a target that belongs to another log');
  t.regex(onto.err, new RegExp(`${theirs.log}, but the archive store has the id ${mine.store}`));
});

test("a log and a store of an older release are bound if the store has the log's objects and no id", async (t) => {
  const folder = await stoppedService(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  const unbound = async (): Promise<MemoryEventLog> => {
    const older = new MemoryEventLog();
    await using log = await openLog(config, { readOnly: true });
    const events = (await Array.fromAsync(log.readAll())).filter(({ stream }) => stream !== BINDINGS);
    await copyEvents(
      (async function* () {
        yield* events;
      })(),
      older,
    );
    return older;
  };
  const first = await unbound();
  await t.throwsAsync(openBoundStore(config, first), {
    message: /belongs to no archive store yet, but .* has the id/,
  });
  await rm(path.join(folder, 'archives/store-id'));
  const store = await openBoundStore(config, first);
  t.is(await store.id(), await boundStore(first));
  const [object] = await Array.fromAsync(store.list());
  await store.remove(object?.sha256 ?? '');
  await store[Symbol.asyncDispose]();
  await rm(path.join(folder, 'archives/store-id'));
  const second = await unbound();
  const lacking = {
    code: 'OTHER_STORE',
    message: /has no id, and only 3 of the 4 objects that the event log names/,
  };
  await t.throwsAsync(openBoundStore(config, second), lacking);
  t.is(await boundStore(second), undefined);
  await rm(path.join(folder, 'archives'), { recursive: true });
  await t.throwsAsync(openBoundStore(config, second), {
    code: 'OTHER_STORE',
    message: /there is none at .*archives/,
  });
  t.deepEqual((await readdir(folder)).includes('archives'), false, 'nothing is written to an unmounted disk');
});

test('a copy of a store without its id is accepted as the store, an empty one is not', async (t) => {
  const folder = await stoppedService(t);
  const { log } = await idsIn(folder);
  const archives = path.join(folder, 'archives');
  await rm(path.join(archives, 'store-id'));
  await using service = await RunningService.startIn(folder);
  await service.stop();
  t.deepEqual(await idsIn(folder), { log, store: log });
  await cp(archives, `${archives}.kept`, { recursive: true });
  for (const name of await readdir(archives)) await rm(path.join(archives, name), { recursive: true });
  await t.throwsAsync(service.startAgain(), { code: 'OTHER_STORE', message: /there is none at .*archives/ });
  for (const [command, ...args] of [
    ['bind'],
    ['gc'],
    ['backup', '--init', await temporaryFolder(t)],
    ['verify', '--all'],
  ] as const) {
    const { code, out, err } = await runScript(folder, command, args);
    t.deepEqual([code, out], [1, ''], command);
    t.regex(err, /^No archive store at .*archives\./, command);
  }
  t.deepEqual(await readdir(archives), [], 'nothing is written to the place of an unmounted disk');
  const bound = await runScript(folder, 'bind', ['--incomplete', '--json']);
  t.is(bound.code, 0, bound.err);
  const { store_id: storeId } = JSON.parse(bound.out) as { store_id: string };
  t.deepEqual(await idsIn(folder), { log: storeId, store: storeId });
  await service.startAgain();
});

test('a log that was never written to is not bound to the store of another one', async (t) => {
  const folder = await stoppedService(t);
  await rm(path.join(folder, 'archives/store-id'));
  await using fresh = new MemoryEventLog();
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await t.throwsAsync(openBoundStore(config, fresh), {
    message: /no id but 4 objects, and the event log names none/,
  });
  t.is(await fresh.head(), undefined);
});

test('a restore draws a new id for both, migrate keeps it', async (t) => {
  const folder = await stoppedService(t);
  const [backup, restored] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { log: id } = await idsIn(folder);
  t.is((await runScript(folder, 'backup', ['--init', backup])).code, 0);
  t.is((await runScript(restored, 'restore', [backup])).code, 0);
  const drawn = await idsIn(restored);
  t.truthy(drawn.log);
  t.is(drawn.log, drawn.store);
  t.not(drawn.log, id);
  t.is((await runScript(restored, 'restore', [backup])).code, 0);
  t.deepEqual(await idsIn(restored), drawn, 'the same run again');
  t.is((await runScript(restored, 'backup', ['--init', backup])).code, 0, 'the next backup continues it');

  const log = `sqlite:${path.join(backup, 'moved.sqlite')}`;
  const archives = path.join(backup, 'moved');
  const moves = [
    ['--from', `sqlite:${folder}/event-log.sqlite`, '--to', log],
    ['--from', `file:${folder}/archives`, '--to', `file:${archives}`, '--log', log],
  ];
  for (const move of moves) {
    const moved = await runScript(folder, 'migrate', move);
    t.is(moved.code, 0, moved.err);
  }
  await using target = await openStore({
    archiveStore: { kind: 'file', folder: archives },
    dataDir: archives,
  });
  t.is(await target.id(), id);
});

test('a restore into a store with an id is refused without the option to take it over', async (t) => {
  const folder = await stoppedService(t);
  const backup = await temporaryFolder(t);
  t.is((await runScript(folder, 'backup', ['--init', backup])).code, 0);
  const { log: id } = await idsIn(folder);
  for (const name of ['event-log.sqlite', 'event-log.sqlite.head']) await rm(path.join(folder, name));
  const refused = await runScript(folder, 'restore', [backup]);
  t.is(refused.code, 1);
  t.regex(refused.err, new RegExp(`^The archive store with the id ${id} is the one that was backed up`));
  await writeFile(path.join(folder, 'archives', 'store-id'), `${randomUUID()}\n`);
  const other = await runScript(folder, 'restore', [backup]);
  t.regex(
    other.err,
    new RegExp(`so it belongs to another event log; the log to restore belongs to ${id}\\.`),
  );
  t.is((await runScript(folder, 'restore', [backup, '--take-over'])).code, 0);
  const { log, store } = await idsIn(folder);
  t.is(log, store);
  t.not(log, id);
});

test('a server that returns without its bucket, or with an empty one, is not accepted as a new one', async (t) => {
  await using s3 = await S3Server.start();
  await using service = await RunningService.start({ archiveStore: s3.store() });
  await deposited(service);
  await service.stop();
  const bucket = s3.buckets.get('deposits');
  s3.buckets.delete('deposits');
  await t.throwsAsync(service.startAgain(), {
    code: 'ARCHIVE_STORE_UNAVAILABLE',
    message: /bucket deposits .* does not exist/,
  });
  t.is(s3.buckets.size, 0);
  const objects = [...(bucket?.objects ?? [])];
  bucket?.objects.clear();
  if (bucket) s3.buckets.set('deposits', bucket);
  await t.throwsAsync(service.startAgain(), { code: 'OTHER_STORE', message: /only 0 of the 4 objects/ });
  for (const [key, object] of objects) bucket?.objects.set(key, object);
  await service.startAgain();
});

/** Returns the settings of two nodes with empty stores. */
async function newStores(t: ExecutionContext, kind: 's3' | 'file') {
  const dataDir = await temporaryFolder(t);
  const server = kind === 's3' ? await S3Server.start() : undefined;
  t.teardown(() => server?.[Symbol.asyncDispose]());
  const placeOf = (name: string) => {
    if (server === undefined) return { kind: 'file', folder: path.join(dataDir, name) } as const;
    return server.store(`deposits/${name}`);
  };
  const [one, other] = [placeOf('one'), placeOf('other')];
  return [
    { archiveStore: one, dataDir },
    { archiveStore: other, dataDir },
  ] as const;
}

async function onlyBinding({ service }: RunningService) {
  const [binding, ...more] = await Array.fromAsync(service.log.readStream(BINDINGS));
  if (!binding || more.length > 0) throw new Error('not one binding');
  return binding;
}

async function objectsIn(folder: string): Promise<string[]> {
  await using store = await openStore({ archiveStore: { kind: 'file', folder }, dataDir: folder });
  return (await Array.fromAsync(store.list(), ({ sha256 }) => sha256)).sort();
}
