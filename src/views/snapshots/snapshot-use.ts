import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import { type EventLog, isInLog } from '../../event-log/event-log.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { Logger } from '../../tools/logger.ts';
import { isBefore } from '../apply-events.ts';
import type { AnyProjection } from '../projection.ts';
import type { SqliteViewStore } from '../store/sqlite-view-store.ts';
import { ViewFile } from '../store/view-file.ts';
import { makeCopyFolder } from './packed-copy.ts';
import { unpack } from './packing.ts';
import { sampledDifference } from './sampled-entries.ts';
import { nameOf, otherViews, type RecordedSnapshot, retainedSnapshots } from './snapshot-records.ts';

type SnapshotSource = {
  readonly log: EventLog;
  readonly store: Pick<ObjectStore, 'get'>;
  /** The engine of the log that the positions of the views belong to. */
  readonly origin: string;
  readonly logger: Logger;
};

/**
 * Replaces views that have applied no event by the newest snapshot that fits. Resolves to whether it has; otherwise a
 * log line says why, and the views are filled from the log.
 */
export async function useSnapshot(
  source: SnapshotSource,
  views: SqliteViewStore,
  projections: readonly AnyProjection[],
  signal: AbortSignal,
): Promise<boolean> {
  const refused: Record<string, string> = {};
  const { log, logger } = source;
  for (const snapshot of await retainedSnapshots(log)) {
    try {
      await assertFits(source, snapshot, projections);
      await takeInto(views, source, snapshot, projections, signal);
      const { storedAt } = snapshot;
      const others = Object.keys(refused).length > 0 && { refused };
      logger.info({ snapshot: nameOf(snapshot), storedAt, ...others }, 'views begin with a snapshot');
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      refused[nameOf(snapshot)] = (error as Error).message;
    }
  }
  if (Object.keys(refused).length > 0)
    logger.warn({ refused }, 'no snapshot of the views can be used: they are filled from the event log');
  return false;
}

/** @throws the reason why the snapshot is not used */
async function assertFits(
  { log, origin }: SnapshotSource,
  snapshot: RecordedSnapshot,
  projections: readonly AnyProjection[],
): Promise<void> {
  const { lastSeen, versions } = snapshot;
  const other = otherViews(versions, projections);
  if (other !== undefined) throw new Error(`It ${other}.`);
  if (snapshot.origin !== origin)
    throw new Error(`It is of another log, ${snapshot.origin} instead of ${origin}.`);
  if (isBefore(await log.head(), lastSeen.position))
    throw new Error(`It is newer than the log: it has applied events up to ${lastSeen.position}.`);
  if (!(await isInLog(log, lastSeen)))
    throw new Error(`It is of another log, which has the event ${lastSeen.id} where this one has not.`);
}

async function takeInto(
  views: SqliteViewStore,
  { log, store }: SnapshotSource,
  snapshot: RecordedSnapshot,
  projections: readonly AnyProjection[],
  signal: AbortSignal,
): Promise<void> {
  const { secret, lastSeen } = snapshot;
  using folder = makeCopyFolder(views.folder);
  const copy = path.join(folder.path, 'views.sqlite');
  await unpack(bytesOf(snapshot, store, signal), copy, Buffer.from(secret, 'base64'), signal);
  {
    using file = new ViewFile(copy);
    const { id } = file.lastSeen ?? {};
    if (id !== lastSeen.id) throw new Error(`It has applied another event last, ${String(id)}.`);
    const difference = await sampledDifference(file, log, projections);
    if (difference !== undefined) throw new Error(`It ${difference}.`);
  }
  views.replaceBy(copy);
}

async function* bytesOf(
  { parts }: RecordedSnapshot,
  store: SnapshotSource['store'],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const { sha256 } of parts) yield* addAbortSignal(signal, (await store.get(sha256)).body);
}
