import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, notFoundHere, type Route, type ViewerRequest } from '../server/route.ts';

/** Events in one answer. */
const PAGE_SIZE = 200;

/**
 * Streams whose events browsers may read. Never those of clients and people: they hold digests of passwords and sealed
 * secrets.
 */
const READABLE = /^(?:deposit-[1-9]\d{0,15}|collection-.+|ids-deposit|anchors)$/;

/** Returns the routes of the events of a stream, as the log has them. */
export function streamRoutes({ log }: Pick<ConsoleParts, 'log'>): readonly Route[] {
  const path = '/console/api/streams/:stream/events';
  return [{ method: 'GET', path, permission: 'service:read', answer: eventsOf }];

  async function eventsOf({ params, query }: ViewerRequest) {
    const stream = params['stream'] ?? '';
    if (!READABLE.test(stream)) throw notFoundHere('Stream not found.');
    const from = revisionIn(query.get('from') ?? '0');
    const events = await Array.fromAsync(log.readStream(stream, { from, limit: PAGE_SIZE }));
    if (events.length === 0 && from === 0) throw notFoundHere('Stream not found.');
    const last = events[PAGE_SIZE - 1];
    const next = last ? last.revision + 1 : null; // not a page further: events may be missing from a log
    return { stream, from, next, events: events.map(verbatim) };
  }
}

function verbatim({ position, stream, revision, id, type, data, metadata }: RecordedEvent) {
  return { position, stream, revision, id, type, data, metadata };
}

function revisionIn(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ConsoleRefusal(400, 'BAD_FROM', `from=${text} is not the number of an event.`);
}
