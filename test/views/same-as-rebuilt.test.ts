import { randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { everyView } from '../../projections/every-view.ts';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import {
  type Aggregate,
  clients,
  collections,
  deposits,
  notifications,
} from '../../src/domain/aggregates.ts';
import { Refusal } from '../../src/domain/decider.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { applyEvents } from '../../src/views/apply-events.ts';
import { Projector } from '../../src/views/projector.ts';
import { Rebuild } from '../../src/views/rebuild.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { anyContext } from '../../testing/domain/commands.ts';
import {
  aliceEntry,
  archiveNamed,
  changeDeposit,
  createDeposit,
  entryWith,
  loadedData,
  noArchive,
  reading,
} from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const [SEED, STEPS] = [5, 200];

test('views that followed the log through crashes and rebuilds equal rebuilt ones', async (t) => {
  const root = await temporaryFolder(t);
  const random = seeded(SEED);
  await using log = new MemoryEventLog();
  let folder = path.join(root, '0');
  let following = await follow(log, folder);
  for (let step = 1; step <= STEPS; step += 1) {
    await happen(log, random);
    const chance = random();
    if (chance < 0.1)
      await setTimeout(20); // some of it is written
    else if (chance < 0.12) following = await crash(step);
    else if (chance < 0.14) await rebuildConcurrently(following.projector);
  }
  await rebuildConcurrently(following.projector); // no later crash that would read all again
  for (let more = 0; more < 20; more += 1) await happen(log, random);
  await following.end();
  t.deepEqual(await differences(log, folder), []);

  async function rebuildConcurrently(projector: Projector): Promise<void> {
    const options = { log, folder, origin: 'memory', projections: everyView, progress: () => undefined };
    const rebuild = new Rebuild(options);
    await rebuild.build();
    rebuild[Symbol.dispose]();
    for (let more = 0; more < 20; more += 1) await happen(log, random);
    await projector.adopt(rebuild.generation);
    rebuild.finish();
  }

  /** Discards everything that is not on disk. */
  async function crash(step: number) {
    const left = path.join(root, String(step));
    await cp(folder, left, { recursive: true });
    await following.end();
    folder = left;
    return await follow(log, folder);
  }
});

test('a rebuilt file has the tables, indexes and triggers of the one in use', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  const random = seeded(SEED);
  const following = await follow(log, folder);
  for (let step = 1; step <= 20; step += 1) await happen(log, random);
  using rebuild = new Rebuild({
    log,
    folder,
    origin: 'memory',
    projections: everyView,
    progress: () => undefined,
  });
  await rebuild.build();
  await following.end();
  const partsOf = (generation: number): unknown[] => {
    using database = new DatabaseSync(path.join(folder, `views.${generation}.sqlite`), { readOnly: true });
    return database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  };
  t.true(partsOf(1).length > 50);
  t.deepEqual(partsOf(rebuild.generation), partsOf(1));
});

test('views are not compared with those of an interrupted rebuild that had read more of the log', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  const random = seeded(SEED);
  for (let step = 1; step <= 20; step += 1) await happen(log, random);
  const options = { log, folder, origin: 'memory', projections: everyView, progress: () => undefined };
  const interrupted = new Rebuild(options); // without views in use
  await interrupted.build();
  interrupted[Symbol.dispose]();
  using inUse = openViewFile(path.join(folder, 'views.1.sqlite'), 'memory', everyView);
  const events = await Array.fromAsync(log.readAll());
  applyEvents(inUse, everyView, events.slice(0, events.length / 2));
  inUse.save();
  using rebuild = new Rebuild(options);
  await rebuild.build();
  t.deepEqual(await Array.fromAsync(rebuild.differences()), []);
  t.regex(rebuild.notCompared.join(), /^No view was compared: those in use are behind those built, /);
});

test('views that a service began to fill while others were built are said to be behind', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  const random = seeded(SEED);
  for (let step = 1; step <= 20; step += 1) await happen(log, random);
  const options = { log, folder, origin: 'memory', projections: everyView, progress: () => undefined };
  using inUse = openViewFile(path.join(folder, 'views.1.sqlite'), 'memory', everyView);
  using rebuild = new Rebuild(options);
  await rebuild.build();
  const events = await Array.fromAsync(log.readAll());
  applyEvents(inUse, everyView, events.slice(0, events.length / 2));
  inUse.save();
  t.deepEqual(await Array.fromAsync(rebuild.differences()), []);
  t.regex(rebuild.notCompared.join(), /^No view was compared: those in use are behind those built, /);
});

test('a comparison of views that is stopped ends before the next view', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  const random = seeded(SEED);
  const following = await follow(log, folder);
  for (let step = 1; step <= 20; step += 1) await happen(log, random);
  await following.end();
  const stop = new AbortController();
  const options = { log, folder, origin: 'memory', projections: everyView, progress: () => undefined };
  using rebuild = new Rebuild({ ...options, signal: stop.signal });
  await rebuild.build();
  const compared = Array.fromAsync(rebuild.differences());
  setImmediate(() => stop.abort(new Error('stopped')));
  await t.throwsAsync(compared, { message: 'stopped' });
});

async function follow(log: EventLog, folder: string) {
  const store = new SqliteViewStore(folder, 'memory');
  const projector = new Projector(log, store);
  for (const projection of everyView) projector.add(projection);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  await projector.start(failed.reject);
  const end = async () => {
    const head = await log.head();
    if (head !== undefined) await Promise.race([failed.promise, projector.passed(head, 10_000)]);
    await projector.stop();
    store[Symbol.dispose]();
  };
  return { projector, end };
}

async function differences(log: EventLog, folder: string): Promise<readonly unknown[]> {
  const checkIn = path.join(folder, 'check');
  const options = { log, folder, origin: 'memory', projections: everyView, progress: () => undefined };
  using rebuild = new Rebuild({ ...options, checkIn });
  await rebuild.build();
  const found = await Array.fromAsync(rebuild.differences());
  return [...found, ...rebuild.notCompared];
}

const IDS = 30;
const NAMES = ['alice', 'bob'];

/** Executes a random command; the domain may refuse it. */
async function happen(log: EventLog, random: () => number): Promise<void> {
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const depositId = 1 + Math.floor(random() * IDS);
  const name = oneOf(NAMES);
  const now = new Date(Date.UTC(2026, 2, 1) + Math.floor(random() * 1e9)).toISOString();
  const kind = random();
  if (kind < 0.1) {
    const credential = { scheme: 'scrypt', N: 2, r: 8, p: 1, salt: 'a', digest: String(random()) } as const;
    await tried(log, clients, name, [
      { type: 'RegisterClient', client: name, credential },
      oneOf([
        { type: 'ChangeCredential', client: name, credential },
        { type: 'DisableClient', client: name },
        { type: 'EnableClient', client: name },
        { type: 'GrantCollection', client: name, collection: oneOf(['software', 'papers']) },
        { type: 'RevokeCollection', client: name, collection: oneOf(['software', 'papers']) },
        { type: 'RemoveWebhook', client: name },
      ]),
    ]);
  } else if (kind < 0.15) {
    const collection = oneOf(['software', 'papers']);
    await tried(log, collections, collection, [
      { type: 'OpenCollection', collection },
      { type: 'DescribeCollection', collection, abstract: String(random()) },
    ]);
  } else if (kind < 0.35) {
    const revision = Math.floor(random() * 20);
    const revisions = Array.from({ length: 1 + Math.floor(random() * 4) }, () => Math.floor(random() * 20));
    const held = { depositId, client: name, collection: 'software', eventId: randomUUID(), revision };
    await tried(log, notifications, depositId, [
      oneOf([
        {
          type: 'HoldNotification',
          ...held,
          heldAt: now,
          reason: 'no answer',
          nextTryAt: oneOf([null, now]),
        },
        { type: 'TryDelivery', depositId, now, latest: now, nextTryAt: now },
        { type: 'RecordDelivered', depositId, revisions },
        { type: 'RecordFailed', depositId, attempt: 1, reason: 'no answer', nextTryAt: now },
        { type: 'GiveUp', depositId, revisions, reason: 'too long' },
        { type: 'Requeue', depositId, now },
      ]),
    ]);
  } else {
    const entry = entryWith({
      title: oneOf([null, 'Paint', 'Paint 2']),
      externalIdentifier: oneOf([null, 'x']),
    });
    const next = () => depositCommand(depositId, { oneOf, name, now, entry });
    await tried(log, deposits, depositId, Array.from({ length: 8 }, next)); // most are refused
  }
}

type Chosen = {
  readonly oneOf: <T>(values: readonly T[]) => T;
  readonly name: string;
  readonly now: string;
  readonly entry: typeof aliceEntry;
};

function depositCommand(depositId: number, { oneOf, name, now, entry }: Chosen): DepositCommand {
  const [attempt, warnings] = [oneOf([1, 1, 1, 2]), oneOf([[], [noArchive]])];
  const [archive, isFinal, providerUrl] = [
    archiveNamed('b.zip', oneOf(['a', 'b'])),
    oneOf([true, false]),
    null,
  ];
  const created = { depositId, client: name, slug: oneOf([null, 'paint']), now, isFinal };
  const change = oneOf([
    { kind: 'add-content', archive, entry: oneOf([null, entry]) },
    { kind: 'replace-content', archive: oneOf([null, archive]), entry },
    { kind: 'remove-archives' },
    { kind: 'remove-archive', number: 1 },
    { kind: 'replace-archive', number: 1, archive },
  ] as const);
  return oneOf<DepositCommand>([
    createDeposit({ ...created, collection: oneOf(['software', 'papers']), entry }),
    changeDeposit(change, { depositId, isFinal, now }),
    { type: 'CompleteDeposit', depositId, now },
    { type: 'DeleteDeposit', depositId, reason: 'gone' },
    { type: 'RecordVerified', depositId, attempt, readings: [reading], warnings },
    { type: 'RecordVerified', depositId, attempt, readings: [reading], warnings },
    { type: 'RecordRejected', depositId, attempt, reasons: [noArchive], warnings },
    { type: 'RetryChecks', depositId },
    { type: 'StartLoading', depositId, attempt },
    { type: 'RecordLoaded', loaded: { ...loadedData, depositId, attempt } },
    { type: 'RecordLoadingFailed', depositId, attempt, reason: noArchive },
    { type: 'RetryLoading', depositId },
    {
      type: 'UpdateMetadata',
      depositId,
      swhid: `swh:1:dir:${loadedData.directory}`,
      entry,
      providerUrl,
      domain: null,
    },
  ]);
}

async function tried<State, Command, Event extends { type: string; data: object }>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commands: readonly Command[],
): Promise<void> {
  for (const command of commands) {
    try {
      await handleCommand(log, aggregate, id, command, anyContext());
    } catch (error) {
      if (!(error instanceof Refusal) && !/decided nothing/.test(String(error))) throw error;
    }
  }
}
