import { appendAfter } from '../../event-log/append-after.ts';
import {
  type EventLog,
  lastEvent,
  occurredAt,
  type RecordedEvent,
  type SeenEvent,
  WrongExpectedRevision,
} from '../../event-log/event-log.ts';
import type { StoredObject } from '../../object-store/object-store.ts';
import { random } from '../../tools/random.ts';
import type { ViewSchema } from '../projection.ts';
import { engineIn } from '../view.ts';

/** The stream whose events name the snapshots of the views in the object store. */
export const SNAPSHOTS = 'view-snapshots';
/** The number of snapshots that are retained. Two, so that one of each release exists during an upgrade. */
const RETAINED = 2;

/** Describes a snapshot of the views, as the log does. */
export type ViewSnapshot = {
  /** The objects that are a packed view file, one after the other. */
  readonly parts: readonly StoredObject[];
  /** The key of the packed file, which only the log has: 32 bytes, in base64. */
  readonly secret: string;
  /** The engine of the log that the positions of the views belong to. */
  readonly origin: string;
  /** The versions of the views, by their names. */
  readonly versions: Readonly<Record<string, number>>;
  /** The event that was applied last. */
  readonly lastSeen: SeenEvent;
};

/** A snapshot, and when it was stored. */
export type RecordedSnapshot = ViewSnapshot & { readonly storedAt: string };

type Reader = Pick<EventLog, 'readStream'>;

/** Resolves to the retained snapshots, the newest first. */
export async function retainedSnapshots(log: Reader): Promise<readonly RecordedSnapshot[]> {
  return await snapshotsOf(log, RETAINED);
}

/** Resolves to the last event of the stream, also one that this release cannot read. */
export function lastSnapshotEvent(log: Reader): Promise<RecordedEvent | undefined> {
  return lastEvent(log, SNAPSHOTS);
}

/** Resolves to the digests of the objects of all snapshots that were ever stored. */
export async function snapshotObjects(log: Reader): Promise<ReadonlySet<string>> {
  return new Set(objectsOf(await snapshotsOf(log)));
}

/** Resolves to the digests of the objects of the snapshots that a newer one has replaced, of those stored lately. */
export async function replacedSnapshots(log: Reader): Promise<readonly string[]> {
  const latest = await snapshotsOf(log, 5 * RETAINED);
  return objectsOf(latest.slice(RETAINED));
}

export function objectsOf(snapshots: readonly ViewSnapshot[]): readonly string[] {
  return snapshots.flatMap(({ parts }) => parts.map(({ sha256 }) => sha256));
}

/** Returns the digest that names a snapshot for operators: that of its first object. */
export function nameOf({ parts }: ViewSnapshot): string {
  return parts[0]?.sha256 ?? 'without an object';
}

/**
 * Records a snapshot whose object is stored. Resolves to `false` if another node has recorded one since `last`, the
 * newest event of a snapshot that this node knows.
 * @throws {WrongExpectedRevision} the log rejects the event and shows no other: without a quorum it may accept it later
 */
export async function recordSnapshot(
  log: Pick<EventLog, 'append' | 'readStream'>,
  snapshot: ViewSnapshot,
  last: RecordedEvent | undefined,
): Promise<boolean> {
  const { parts, ...rest } = snapshot;
  const [only] = parts;
  const isWhole = only !== undefined && parts.length === 1;
  const metadata = { schemaVersion: isWhole ? 1 : 2 };
  const data = isWhole ? { ...only, ...rest } : snapshot;
  const event = { id: random.uuid(), type: 'ViewSnapshotStored', data, metadata };
  try {
    await appendAfter(log, SNAPSHOTS, last, event);
    return true;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    const from = last === undefined ? 0 : last.revision + 1;
    const [next] = await Array.fromAsync(log.readStream(SNAPSHOTS, { from, limit: 1 }));
    if (!next) throw error;
    return next.id === event.id;
  }
}

/** Returns why views with these versions are not those of the schemas, as a predicate; `undefined` if they are. */
export function otherViews(
  versions: Readonly<Record<string, number>>,
  schemas: readonly ViewSchema[],
): string | undefined {
  const other = schemas.find(({ name, version }) => versions[name] !== version);
  if (other === undefined) return undefined;
  const stored = versions[other.name];
  return stored === undefined
    ? `has no ${other.name}`
    : `has version ${stored} of ${other.name}, where this release has version ${other.version}`;
}

/** Resolves to the snapshots that this release can read, the newest first. */
async function snapshotsOf(log: Reader, limit?: number): Promise<readonly RecordedSnapshot[]> {
  const found: RecordedSnapshot[] = [];
  const options = { backwards: true, ...(limit !== undefined && { limit }) };
  for await (const event of log.readStream(SNAPSHOTS, options)) {
    const snapshot = snapshotIn(event);
    if (snapshot !== undefined) found.push({ ...snapshot, storedAt: occurredAt(event) });
  }
  return found;
}

/** Returns `undefined` for an event of a newer release, or of an export without secrets. */
function snapshotIn({ type, data, metadata }: RecordedEvent): ViewSnapshot | undefined {
  const version = metadata['schemaVersion'];
  if (type !== 'ViewSnapshotStored' || typeof data['secret'] !== 'string') return undefined;
  if (version !== 1 && version !== 2) return undefined;
  const { sha256, length, ...snapshot } = data as ViewSnapshot & StoredObject; // as recordSnapshot writes it
  const parts = version === 1 ? [{ sha256, length }] : snapshot.parts;
  return { ...snapshot, parts, origin: engineIn(snapshot.origin) };
}
