import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExecutionContext } from 'ava';
import { everyView } from '../../projections/every-view.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { files } from '../../src/tools/files.ts';
import { type OutsideWorld, runInWorld } from '../../src/tools/outside-world.ts';
import type { AnyProjection } from '../../src/views/projection.ts';
import { Projector } from '../../src/views/projector.ts';
import { pack } from '../../src/views/snapshots/packing.ts';
import { SnapshotMaker } from '../../src/views/snapshots/snapshot-maker.ts';
import {
  lastSnapshotEvent,
  recordSnapshot,
  type ViewSnapshot,
} from '../../src/views/snapshots/snapshot-records.ts';
import { useSnapshot } from '../../src/views/snapshots/snapshot-use.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { differencesBetween } from '../../src/views/view-difference.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit } from '../../testing/domain/example-deposits.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import { quickCredential } from '../../testing/service/secret-password.ts';

export const ORIGIN = 'sqlite';

export type Site = { readonly log: EventLog; readonly store: ObjectStore; readonly archives: string };

export async function siteOf(t: ExecutionContext, remote?: ObjectStore, deposits = [1, 2, 3]): Promise<Site> {
  const folder = await temporaryFolder(t);
  const log = await SqliteEventLog.open({ file: path.join(folder, 'event-log.sqlite') });
  t.teardown(() => log[Symbol.asyncDispose]());
  const archives = path.join(folder, 'archives');
  const store = remote ?? (await FilesystemObjectStore.open({ folder: archives }));
  t.teardown(() => store[Symbol.asyncDispose]());
  const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
  await administration.client({ type: 'RegisterClient', client: 'alice', credential: quickCredential });
  for (const id of deposits) await deposit(log, id);
  return { log, store, archives };
}

export async function s3Store(t: ExecutionContext): Promise<ObjectStore> {
  const server = await S3Server.start();
  t.teardown(() => server[Symbol.asyncDispose]());
  server.makeBucket('archives');
  return await S3ObjectStore.open({ ...server.store('archives'), temporaryFolder: await temporaryFolder(t) });
}

type NodeOptions = {
  readonly projections?: readonly AnyProjection[];
  readonly fromSize?: number;
  readonly partBytes?: number;
  readonly world?: Partial<OutsideWorld>;
};

/** Starts a node without views, and resolves when these have caught up. */
export async function nodeOf(
  t: ExecutionContext,
  { log, store }: Site,
  { projections = everyView, fromSize = 1, partBytes = 2 ** 32, world = {} }: NodeOptions = {},
) {
  const folder = await temporaryFolder(t);
  const { logger, lines } = keptLines();
  const views = new SqliteViewStore(folder, ORIGIN);
  const source = { log, store, origin: ORIGIN, logger };
  const projector = new Projector(log, views, (wanted, signal) => useSnapshot(source, views, wanted, signal));
  for (const projection of projections) projector.add(projection);
  let applied = 0;
  await projector.start(
    (error) => t.fail(String(error)),
    (events) => {
      applied = events;
    },
  );
  let maker: SnapshotMaker | undefined;
  const look = () =>
    runInWorld(world, () => {
      maker ??= new SnapshotMaker({ ...source, views, fromSize, partBytes }, Promise.resolve());
      return maker.look();
    });
  t.teardown(async () => {
    await maker?.[Symbol.asyncDispose]();
    await projector.stop();
    views[Symbol.dispose]();
  });
  return { folder, lines, projector, views, look, newest: () => maker?.newest, applied: () => applied };
}

type Node = Awaited<ReturnType<typeof nodeOf>>;

export function differences(one: Node, other: Node) {
  return everyView.flatMap(({ name }) => [...differencesBetween(one.views.file, other.views.file, name)]);
}

/** Returns the only warning of a node, which must say why no snapshot was used. */
export function reasonIn({ lines }: Node): string {
  const warnings = lines.filter(({ level }) => level === 'warn');
  if (warnings.length !== 1) throw new Error(`${warnings.length} warnings: ${JSON.stringify(lines)}`);
  return JSON.stringify(warnings[0]?.['refused']);
}

/** Changes to a snapshot before it is stored. */
export type Changes = {
  readonly change?: (snapshot: ViewSnapshot) => ViewSnapshot;
  readonly inViews?: string;
};

/** Stores and records a snapshot of views, changed before it is packed, or as it is recorded. */
export async function record(
  t: ExecutionContext,
  { log, store }: Site,
  views: string,
  { change = (snapshot) => snapshot, inViews = '' }: Changes,
): Promise<ViewSnapshot> {
  const folder = await temporaryFolder(t);
  const [copy, packed, key] = [path.join(folder, 'copy'), path.join(folder, 'packed'), randomBytes(32)];
  {
    using database = new DatabaseSync(path.join(views, 'views.1.sqlite'));
    database.exec(`VACUUM INTO '${copy}'`);
  }
  using database = new DatabaseSync(copy);
  const lastSeen = JSON.parse(String(database.prepare('SELECT last_seen FROM about').get()?.['last_seen']));
  database.exec(inViews);
  await pack(copy, packed, key);
  const parts = [await store.put(files.createReadStream(packed))];
  const versions = Object.fromEntries(everyView.map(({ name, version }) => [name, version]));
  const snapshot = change({ parts, secret: key.toString('base64'), origin: ORIGIN, versions, lastSeen });
  t.true(await recordSnapshot(log, snapshot, await lastSnapshotEvent(log)));
  return snapshot;
}

export async function deposit(log: EventLog, depositId: number): Promise<void> {
  await executeDeposit(log, depositId, createDeposit({ depositId }));
}

export async function stored({ store }: Pick<Site, 'store'>): Promise<string[]> {
  return (await Array.fromAsync(store.list())).map(({ sha256 }) => sha256);
}

/** Returns the names of files that making or using a snapshot has left in the folder of the views. */
export function copiesIn(folder: string): string[] {
  return files.readdirSync(folder).filter((name) => !name.startsWith('views.1.'));
}
