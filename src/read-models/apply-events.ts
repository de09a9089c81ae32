import type { Position, RecordedEvent } from '../event-log/event-log.ts';
import { apply } from './fold.ts';
import { type AnyProjection, keyOf } from './projection.ts';
import type { ViewTable } from './view-store.ts';

/** A projection and the table that shows it; how many events of its streams came, where somebody counts them. */
export type Shown = {
  readonly projection: AnyProjection;
  readonly table: ViewTable;
  readonly came?: { events: number };
};

/** Applies events, in order, to the tables that do not have them yet. */
export function applyEvents(shown: readonly Shown[], events: readonly RecordedEvent[]): void {
  const last = events.at(-1);
  if (last === undefined) return;
  const byPrefix = new Map<string, readonly RecordedEvent[]>();
  for (const { projection, table, came } of shown) {
    if (!isBefore(table.position, last.position)) continue;
    const { prefix } = projection.source;
    const own = byPrefix.get(prefix) ?? events.filter(({ stream }) => stream.startsWith(prefix));
    byPrefix.set(prefix, own);
    const news = behind(table.position, own);
    table.take(changesOf(projection, table, news), last);
    if (came) came.events += news.length;
  }
}

/** Where every one of the tables is at least. */
export function oldestPosition(shown: readonly Shown[]): Position | undefined {
  return shown
    .map(({ table }) => table.position)
    .reduce((oldest, position) => (isBefore(oldest, position) ? oldest : position));
}

export function prefixesOf(shown: readonly Shown[]): readonly string[] {
  return [...new Set(shown.map(({ projection }) => projection.source.prefix))];
}

export function isBefore(position: Position | undefined, other: Position | undefined): boolean {
  return other !== undefined && (position === undefined || position < other);
}

/** Most of the time all of them. */
function behind(position: Position | undefined, events: readonly RecordedEvent[]): readonly RecordedEvent[] {
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
