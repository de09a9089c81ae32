import type { Position, RecordedEvent } from '../event-log/event-log.ts';
import { apply } from './fold.ts';
import { type AnyProjection, keyOf } from './projection.ts';
import type { ViewTable } from './view-store.ts';

/**
 * A projection with the table that it fills. `applied` counts the events of its streams where that is of
 * interest.
 */
export type ProjectedTable = {
  readonly projection: AnyProjection;
  readonly table: ViewTable;
  readonly applied?: { events: number };
};

/** Applies events, in order, to the tables whose position is before them. */
export function applyEvents(shown: readonly ProjectedTable[], events: readonly RecordedEvent[]): void {
  const last = events.at(-1);
  if (last === undefined) return;
  const byPrefix = new Map<string, readonly RecordedEvent[]>();
  for (const { projection, table, applied } of shown) {
    if (!isBefore(table.position, last.position)) continue;
    const { prefix } = projection.source;
    const own = byPrefix.get(prefix) ?? events.filter(({ stream }) => stream.startsWith(prefix));
    byPrefix.set(prefix, own);
    const newEvents = eventsAfter(table.position, own);
    table.take(changesOf(projection, table, newEvents), last);
    if (applied) applied.events += newEvents.length;
  }
}

/** Returns the lowest position of the tables. */
export function oldestPosition(shown: readonly ProjectedTable[]): Position | undefined {
  return shown
    .map(({ table }) => table.position)
    .reduce((oldest, position) => (isBefore(oldest, position) ? oldest : position));
}

export function prefixesOf(shown: readonly ProjectedTable[]): readonly string[] {
  return [...new Set(shown.map(({ projection }) => projection.source.prefix))];
}

export function isBefore(position: Position | undefined, other: Position | undefined): boolean {
  return other !== undefined && (position === undefined || position < other);
}

/** Returns the events after the position, which usually are all of them. */
function eventsAfter(
  position: Position | undefined,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  if (isBefore(position, events[0]?.position)) return events;
  return events.filter((event) => isBefore(position, event.position));
}

function changesOf(
  projection: AnyProjection,
  table: ViewTable,
  events: readonly RecordedEvent[],
): Map<string, unknown> {
  const views = new Map<string, unknown>();
  for (const event of events) {
    if (!(event.type in projection.when)) continue;
    const key = keyOf(projection.source, event.stream);
    // The first event of a stream has nothing to change yet.
    const view = views.has(key) || event.revision === 0 ? views.get(key) : table.get(key);
    views.set(key, apply(projection, view, event));
  }
  return views;
}
