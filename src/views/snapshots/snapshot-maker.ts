import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import { type EventLog, isInLog, type RecordedEvent } from '../../event-log/event-log.ts';
import type { ObjectStore, StoredObject } from '../../object-store/object-store.ts';
import { clock } from '../../tools/clock.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import { files } from '../../tools/files.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import type { SqliteViewStore } from '../store/sqlite-view-store.ts';
import { makeCopyFolder, packedCopy } from './packed-copy.ts';
import { KEY_BYTES } from './packing.ts';
import {
  lastSnapshotEvent,
  nameOf,
  objectsOf,
  otherViews,
  type RecordedSnapshot,
  recordSnapshot,
  replacedSnapshots,
  retainedSnapshots,
} from './snapshot-records.ts';

type SnapshotMakerOptions = {
  readonly log: EventLog;
  readonly store: Pick<ObjectStore, 'put' | 'remove'>;
  readonly views: SqliteViewStore;
  /** The engine of the log that the positions of the views belong to. */
  readonly origin: string;
  /** The size of the views in bytes from which on snapshots are made; below it, the log is read as fast. */
  readonly fromSize: number;
  /** The maximum size of an object; a larger snapshot is stored in parts. */
  readonly partBytes?: number;
  readonly logger: Logger;
};

/** Milliseconds between two looks at the age of the newest snapshot, and until another one is stored. */
const [LOOK_INTERVAL_MS, MAX_AGE_MS] = [3_600_000, 86_400_000];
/** S3 copies no object above 5 GiB in one request. */
const PART_BYTES = 4 * 1024 ** 3;
/** Milliseconds that a stop waits for a snapshot in progress to be cut off. */
const STOP_TIMEOUT_MS = 3000;

/**
 * Stores a snapshot of the views when the newest one that fits them is a day old, or does not exist, as after a change
 * of a projection. Errors are logged, and the next look tries again.
 *
 * Nodes that look at the same time may each store one. The log accepts one of them; the others are removed.
 */
export class SnapshotMaker implements AsyncDisposable {
  readonly #options: SnapshotMakerOptions;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void>;
  #newest: string | undefined;

  /** @param ready resolves when the views have caught up with the log */
  constructor(options: SnapshotMakerOptions, ready: Promise<void>) {
    this.#options = options;
    this.#running = ready.catch(() => this.#stop.abort()); // the service ends
    void this.look();
    this.#timer = clock.setInterval(() => void this.look(), LOOK_INTERVAL_MS).unref();
  }

  /** The time of the newest snapshot that fits, as of the last look; `undefined` without one. */
  get newest(): string | undefined {
    return this.#newest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clock.clearInterval(this.#timer);
    this.#stop.abort();
    await withTimeout(this.#running, STOP_TIMEOUT_MS);
  }

  /** Stores a snapshot if one is due. Never rejects. */
  look(): Promise<void> {
    this.#running = this.#running.then(() => this.#look());
    return this.#running;
  }

  async #look(): Promise<void> {
    const { logger, views, fromSize } = this.#options;
    if (this.#stop.signal.aborted) return;
    try {
      const { size, damage } = views.file;
      if (size >= fromSize && damage === undefined) await this.#makeIfDue();
    } catch (err) {
      if (!this.#stop.signal.aborted) logger.warn({ err }, 'no snapshot of the views stored');
    }
  }

  async #makeIfDue(): Promise<void> {
    const last = await lastSnapshotEvent(this.#options.log);
    const fitting = await this.#newestFitting();
    this.#newest = fitting?.storedAt;
    // A time far ahead is that of a clock that was wrong.
    if (fitting && Math.abs(clock.now() - Date.parse(fitting.storedAt)) < MAX_AGE_MS) return;
    await this.#make(last);
  }

  async #make(last: RecordedEvent | undefined): Promise<void> {
    const { log, views, origin, logger } = this.#options;
    const begun = clock.monotonic();
    await assertRoom(views);
    using folder = makeCopyFolder(views.folder);
    const [packed, key] = [path.join(folder.path, 'packed'), random.bytes(KEY_BYTES)];
    const order = { views: views.file.path, folder: folder.path, packed, key };
    const { lastSeen, versions } = await packedCopy(order, this.#stop.signal);
    if (lastSeen === undefined) return;
    const parts = await this.#put(packed);
    const snapshot = { parts, secret: key.toString('base64'), origin, versions, lastSeen };
    if (!(await recordSnapshot(log, snapshot, last))) return await this.#remove(objectsOf([snapshot]));
    this.#newest = clock.date().toISOString();
    const ms = Math.round(clock.monotonic() - begun);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    logger.info({ snapshot: nameOf(snapshot), bytes, ms }, 'snapshot of the views stored');
    await this.#remove(await replacedSnapshots(log).catch(() => [])); // the next one removes them
  }

  /** Stores the file as objects, none above what a store accepts. */
  async #put(packed: string): Promise<readonly StoredObject[]> {
    const { store, partBytes = PART_BYTES } = this.#options;
    const { size } = await files.stat(packed);
    const parts: StoredObject[] = [];
    try {
      for (let start = 0; start < size; start += partBytes) {
        const part = files.createReadStream(packed, { start, end: start + partBytes - 1 });
        parts.push(await store.put(addAbortSignal(this.#stop.signal, part)));
      }
      return parts;
    } catch (error) {
      await this.#remove(parts.map(({ sha256 }) => sha256));
      throw error;
    }
  }

  /** Removes objects that no node needs. One that the store has to retain keeps no other. Never rejects. */
  async #remove(objects: readonly string[]): Promise<void> {
    const { store, logger } = this.#options;
    const errors: unknown[] = [];
    for (const sha256 of objects) await store.remove(sha256).catch((error: unknown) => errors.push(error));
    const [err] = errors;
    if (errors.length > 0 && !this.#stop.signal.aborted)
      logger.warn({ objects: errors.length, err }, 'snapshots of the views not removed');
  }

  async #newestFitting(): Promise<RecordedSnapshot | undefined> {
    const { log, origin, views } = this.#options;
    for (const snapshot of await retainedSnapshots(log)) {
      const fits =
        snapshot.origin === origin && otherViews(snapshot.versions, views.file.schemas) === undefined;
      if (fits && (await isInLog(log, snapshot.lastSeen))) return snapshot;
    }
    return undefined;
  }
}

/** @throws the disk has no room for the copy, the packed file and, embedded, the object */
async function assertRoom({ folder, file: { size } }: SqliteViewStore): Promise<void> {
  const { bavail, bsize } = await files.statfs(folder);
  const [free, needed] = [bavail * bsize, 3 * size];
  if (free < needed)
    throw new Error(`A snapshot of the views needs ${needed} free bytes in ${folder}, which has ${free}.`);
}
