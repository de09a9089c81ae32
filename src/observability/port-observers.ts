import { SpanKind } from '@opentelemetry/api';
import type { ArchiveReader } from '../archives/archive-reader.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Logger } from '../tools/logger.ts';
import { type Observer, observed } from '../tools/observed.ts';
import { contextIn, inSpan } from '../tools/span.ts';

/** Wraps each append in a span, and writes a log message for every event that is appended. */
export function logObserver(logger: Logger): Observer<EventLog> {
  return {
    append: (append, stream, expected, events, options) => {
      const types = events.map(({ type }) => type);
      const attributes = { 'deposit.stream': stream, 'deposit.event_types': types };
      return inSpan('append', { attributes }, async () => {
        const appended = await append(stream, expected, events, options);
        for (const { type, metadata } of events) {
          const { actor, $correlationId: correlationId } = metadata;
          logger.info({ stream, type, actor, correlationId }, 'event');
        }
        return appended;
      });
    },
  };
}

/**
 * Returns the reader with each read of an archive and each merge of listings in a span, which begins with the wait for
 * a thread.
 */
export function observedReader(reader: ArchiveReader): ArchiveReader {
  return observed(reader, {
    inspect: (inspect, source, sha256, limits, owner) =>
      inSpan('read archive', { attributes: { 'deposit.object': sha256 } }, async (span) => {
        const inspection = await inspect(source, sha256, limits, owner);
        const { outcome, format } = inspection;
        span.setAttributes({ 'deposit.outcome': outcome, 'deposit.format': String(format) });
        return inspection;
      }),
    merge: (merge, listings, owner) => {
      const attributes = { 'deposit.archives': listings.length };
      return inSpan('merge listings', { attributes }, async (span) => {
        const merged = await merge(listings, owner);
        span.setAttribute('deposit.outcome', merged.outcome);
        return merged;
      });
    },
  });
}

/** Returns the reactor with each attempt in a span, in the trace of the request that caused the event. */
export function observedReactor(reactor: Reactor): Reactor {
  const { name } = reactor;
  return observed(reactor, {
    react: (react, event, signal) => ofEvent(`${name} ${event.type}`, event, () => react(event, signal)),
    giveUp: (giveUp, event, error) => ofEvent(`${name} gives up`, event, () => giveUp(event, error)),
  });
}

function ofEvent(name: string, event: RecordedEvent, work: () => Promise<void>): Promise<void> {
  const { id, stream, revision, metadata } = event;
  const attributes = { 'deposit.event': id, 'deposit.stream': stream, 'deposit.revision': revision };
  return inSpan(name, { attributes, parent: contextIn(metadata), kind: SpanKind.CONSUMER }, work);
}
