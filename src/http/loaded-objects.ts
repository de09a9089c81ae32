import { type LoadedObjects, objectIndexes } from '../../projections/loaded-objects.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import type { View } from '../read-models/projector.ts';
import { wasLoadedSince } from './loaded-since.ts';

/** What is known of an object that somebody refers to; `client` and at least one identifier. */
export type ObjectQuery = Readonly<Partial<Record<(typeof FIELDS)[number], string>>> & {
  readonly client: string;
};

const FIELDS = ['snapshot', 'revision', 'directory', 'origin'] as const;

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
  return wasLoadedSince(log, position, query.client, (loaded) =>
    FIELDS.every((field) => query[field] === undefined || query[field] === loaded[field]),
  );
}

/** A snapshot and a revision are of one deposit, a directory may be of many. */
function indexFor(query: ObjectQuery): readonly string[] {
  if (query.snapshot !== undefined) return objectIndexes.snapshot;
  return query.revision === undefined ? objectIndexes.newestOfDirectoryAndOrigin : objectIndexes.revision;
}
