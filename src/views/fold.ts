import type { RecordedEvent } from '../event-log/event-log.ts';
import { keyOf, type Projection, type Recorded } from './projection.ts';

/** Applies one stored event to a view, which must be {@link completed} after the last one. */
export function apply<View, Event extends { type: string }>(
  projection: Projection<View, Event>,
  view: View | undefined,
  stored: RecordedEvent,
): View | undefined {
  const handler = projection.when[stored.type as Event['type']];
  if (!handler) return view;
  const event = projection.source.codec.read(stored);
  const { id, revision, position, metadata } = stored;
  const { occurredAt, actor, $correlationId: correlationId } = metadata as unknown as Metadata;
  const recorded: Recorded & Event = { ...event, id, occurredAt, revision, position, actor, correlationId };
  return handler(view, recorded as never); // it was found under the type of this very event
}

/** Returns the view with the fields that follow from its other fields. */
export function completed<View, Event extends { type: string }>(
  { complete }: Projection<View, Event>,
  view: View | undefined,
): View | undefined {
  return view !== undefined && complete ? complete(view) : view;
}

/** The metadata of every event of this service. */
type Metadata = Pick<Recorded, 'occurredAt' | 'actor'> & { readonly $correlationId?: string };

export async function foldStream<View, Event extends { type: string }>(
  projection: Projection<View, Event>,
  events: AsyncIterable<RecordedEvent>,
): Promise<View | undefined> {
  let view: View | undefined;
  for await (const stored of events) view = apply(projection, view, stored);
  return completed(projection, view);
}

/** Folds all views of a projection in memory, for the few projections that commands list. */
export async function foldByKey<View, Event extends { type: string }>(
  projection: Projection<View, Event>,
  events: AsyncIterable<RecordedEvent>,
): Promise<Map<string, View>> {
  const views = new Map<string, View>();
  for await (const stored of events) {
    const key = keyOf(projection.source, stored.stream);
    const view = completed(projection, apply(projection, views.get(key), stored));
    if (view === undefined) views.delete(key);
    else views.set(key, view);
  }
  return views;
}
