import { type LoadedObjects, loadedObjects, objectIndexes } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../event-log/event-log.ts';
import { foldStream } from '../read-models/fold.ts';
import type { View } from '../read-models/projector.ts';

/** What is known of an object that somebody refers to; `client` and at least one identifier. */
export type ObjectQuery = Readonly<Partial<Record<(typeof FIELDS)[number], string>>> & {
  readonly client: string;
};

const FIELDS = ['snapshot', 'revision', 'directory', 'origin'] as const;
/** How long the log may take to tell what has come since the views, in milliseconds. */
const PATIENCE = 5000;

/**
 * Whether a loaded deposit of the client has all that is asked for, as far as anybody can have been told. What a view
 * knows stays so; what it does not know may have come behind its `position`: that part of the log is read.
 * @throws {EventLogUnavailable} the log does not tell, so that it is not known
 */
export async function isLoadedObject(
  query: ObjectQuery,
  view: Pick<View<LoadedObjects>, 'find'>,
  position: Position | undefined,
  log: EventLog,
): Promise<boolean> {
  if (view.find({ index: indexFor(query), equal: query, limit: 1 }).length > 0) return true;
  const signal = AbortSignal.timeout(PATIENCE);
  try {
    return await wasLoadedAfter(position, query, log, signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new EventLogUnavailable('The event log did not tell in time which objects are loaded.', { cause });
  }
}

/** A snapshot and a revision are of one deposit, a directory may be of many. */
function indexFor(query: ObjectQuery): readonly string[] {
  if (query.snapshot !== undefined) return objectIndexes.snapshot;
  return query.revision === undefined ? objectIndexes.directory : objectIndexes.revision;
}

async function wasLoadedAfter(
  after: Position | undefined,
  query: ObjectQuery,
  log: EventLog,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const stored of log.readAll({ after, streamPrefixes: [deposits.prefix], signal })) {
    if (stored.type !== 'DepositLoaded') continue;
    const event = deposits.codec.read(stored);
    if (event.type !== 'DepositLoaded' || !FIELDS.every((field) => fits(event.data[field], query[field])))
      continue;
    const loaded = await foldStream(loadedObjects, log.readStream(stored.stream, { signal }));
    if (loaded?.client === query.client) return true;
  }
  return false;
}

function fits(value: string, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === value;
}
