import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { DepositQueries } from '../../deposits/queries.ts';
import { deposits } from '../../domain/aggregates.ts';
import { describeDepositEvent } from '../../domain/deposit/describe.ts';
import { actorOf, occurredAt, type RecordedEvent } from '../../event-log/event-log.ts';
import { type HistoryEntry, historyFeed } from '../../sword/documents/history-feed.ts';
import { render } from '../../sword/documents/render.ts';
import { FEED_TYPE, type Offers, PAGE } from '../../sword/headers/accept.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import type { ReadParts } from '../handler-parts.ts';
import { answerDocument, chooseRepresentation } from '../responses/representation.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

export const HISTORY_OFFERS: Offers = [
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/json', format: 'json' },
  PAGE,
];

/**
 * Maximum number of events of one page: more than a usual deposit has, and a bound for one replaced a thousand times.
 */
const PAGE_SIZE = 100;

/** Serves the events of a deposit to its client. */
export function historyHandler(parts: ReadParts): ServiceMiddleware {
  const { queries } = parts;
  return depositResource(queries.ownStatus, {
    GET: async (ctx, deposit) => {
      const from = pageStart(ctx);
      const chosen = chooseRepresentation(ctx, deposit, HISTORY_OFFERS);
      if (!chosen) return;
      const page = await pageOf(queries, deposit, from);
      const document = historyFeed({ ...deposit, ...page }, parts);
      answerDocument(ctx, chosen.contentType, render(document, chosen.format, parts));
    },
  });
}

/** Returns one page of events up to the revision that the entity tag names, even if later events exist by now. */
async function pageOf(queries: DepositQueries, { depositId, revision }: DepositStatusView, from: number) {
  const limit = Math.min(PAGE_SIZE, revision + 1 - from);
  const events = limit > 0 ? await queries.history(depositId, from, limit) : [];
  return {
    from,
    previous: from > 0 ? Math.max(0, Math.min(from, revision + 1) - PAGE_SIZE) : null,
    next: from + PAGE_SIZE <= revision ? from + PAGE_SIZE : null,
    events: events.map(toHistoryEntry),
  };
}

function toHistoryEntry(stored: RecordedEvent): HistoryEntry {
  const { id, type } = stored;
  return {
    id,
    type,
    occurredAt: occurredAt(stored),
    by: by(stored),
    description: describeDepositEvent(deposits.codec.read(stored)),
  };
}

/** Returns the actor's name as clients may see it: neither names of operators nor internal parts of the service. */
function by(event: RecordedEvent): string {
  const { kind, name } = actorOf(event);
  if (kind === 'operator' || kind === 'person') return 'operator';
  return kind === 'client' || name === 'checker' || name === 'loader' ? name : 'service';
}

function pageStart({ query }: ServiceContext): number {
  const { from = '0' } = query;
  if (typeof from === 'string' && /^\d{1,15}$/.test(from)) return Number(from);
  throw badRequest(`from=${quoted(String(from))} is not the number of an event.`);
}
