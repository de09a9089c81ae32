import type { Position, RecordedEvent } from '../event-log/event-log.ts';
import { apply, completed } from './fold.ts';
import { type AnyProjection, keyOf } from './projection.ts';
import type { ViewFile } from './store/view-file.ts';

/** Applies events, in order, to all views of a file, except those that it has applied before. */
export function applyEvents(
  views: ViewFile,
  projections: readonly AnyProjection[],
  events: readonly RecordedEvent[],
): void {
  const newEvents = eventsAfter(views.lastSeen?.position, events);
  const last = newEvents.at(-1);
  if (last === undefined) return;
  const streams = Map.groupBy(newEvents, ({ stream }) => stream);
  const changed = new Map<string, ReadonlyMap<string, unknown>>();
  for (const projection of projections) {
    const values = valuesAfter(views, projection, streams);
    if (values.size > 0) changed.set(projection.name, values);
  }
  views.memory.take(changed, last);
}

export function prefixesOf(projections: readonly AnyProjection[]): readonly string[] {
  return [...new Set(projections.map(({ source }) => source.prefix))];
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

function valuesAfter(
  views: ViewFile,
  projection: AnyProjection,
  streams: ReadonlyMap<string, readonly RecordedEvent[]>,
): Map<string, unknown> {
  const { name, source, when } = projection;
  const values = new Map<string, unknown>();
  for (const [stream, events] of streams) {
    if (!stream.startsWith(source.prefix)) continue;
    const first = events.find(({ type }) => type in when);
    if (first === undefined) continue;
    const key = keyOf(source, stream);
    let value = first.revision === 0 ? undefined : views.get(name, key); // a new stream has nothing to change yet
    for (const event of events) value = apply(projection, value, event);
    values.set(key, completed(projection, value));
  }
  return values;
}
