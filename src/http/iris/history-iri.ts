import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { deposits } from '../../domain/aggregates.ts';
import { describeDepositEvent } from '../../domain/deposit/describe.ts';
import { occurredAt, type RecordedEvent } from '../../event-log/event-log.ts';
import { historyFeed, historyJson, type ToldEvent } from '../../sword/documents/history-feed.ts';
import type { Language } from '../../sword/documents/language.ts';
import { FEED_TYPE, type Offers } from '../../sword/headers/negotiate.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import { chooseRepresentation } from '../answering/choose-representation.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

export const HISTORY_OFFERS: Offers = [
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/json', format: 'json' },
];

/** Events of one page: all of a usual deposit, and a bound for one that was replaced a thousand times. */
const PAGE = 100;

/** What has happened to a deposit, for its client. */
export function historyIri(desk: DepositDesk, options: Language): ServiceMiddleware {
  return depositResource<DepositStatusView>((id) => desk.status(id), {
    GET: async (ctx, deposit) => {
      const from = pageStart(ctx);
      const chosen = chooseRepresentation(ctx, deposit, HISTORY_OFFERS);
      if (!chosen) return;
      const page = await pageOf(desk, deposit, from);
      const render = { xml: historyFeed, json: historyJson }[chosen.format];
      ctx.body = render({ ...deposit, author: deposit.client, ...page }, options);
      ctx.set('Content-Type', chosen.contentType);
    },
  });
}

/** Nothing beyond the revision that the entity tag names, even if it is there by now. */
async function pageOf(desk: DepositDesk, { depositId, revision }: DepositStatusView, from: number) {
  const limit = Math.min(PAGE, revision + 1 - from);
  const events = limit > 0 ? await desk.history(depositId, from, limit) : [];
  return {
    from,
    previous: from > 0 ? Math.max(0, Math.min(from, revision + 1) - PAGE) : null,
    next: from + PAGE <= revision ? from + PAGE : null,
    events: events.map(told),
  };
}

function told(stored: RecordedEvent): ToldEvent {
  const { id, type, metadata } = stored;
  return {
    id,
    type,
    occurredAt: occurredAt(stored),
    by: by(metadata),
    description: describeDepositEvent(deposits.codec.read(stored)),
  };
}

/** Clients are not told which operator it was, nor of parts of the service that they know nothing about. */
function by({ actor }: RecordedEvent['metadata']): string {
  const { kind, name } = actor as { kind: string; name: string }; // every event of ours names it
  if (kind === 'operator') return 'operator';
  return kind === 'client' || name === 'checker' || name === 'loader' ? name : 'service';
}

function pageStart({ query }: ServiceContext): number {
  const { from = '0' } = query;
  if (typeof from === 'string' && /^\d{1,15}$/.test(from)) return Number(from);
  throw badRequest(`from=${quoted(String(from))} is not the number of an event.`);
}
