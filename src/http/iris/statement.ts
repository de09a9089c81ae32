import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import type { RenderContext } from '../../sword/documents/render-context.ts';
import { statementFeed, statementJson } from '../../sword/documents/statement/statement-feed.ts';
import { statementRdf } from '../../sword/documents/statement/statement-rdf.ts';
import { FEED_TYPE, type Offers } from '../../sword/headers/negotiate.ts';
import { notFound } from '../../sword/sword-error.ts';
import { chooseRepresentation } from '../responses/choose-representation.ts';
import type { ResponseCache } from '../responses/response-cache.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

export const STATEMENT_OFFERS: Offers<'feed' | 'rdf' | 'json'> = [
  { contentType: FEED_TYPE, format: 'feed' },
  { contentType: 'application/xml', format: 'feed' },
  { contentType: 'application/rdf+xml', format: 'rdf' },
  { contentType: 'application/json', format: 'json' },
];

/** Serves the SWORD Statement of a deposit as a feed, a resource map or JSON. */
export function statementIri(
  depositService: DepositService,
  options: RenderContext,
  cache: ResponseCache,
): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => depositService.content(id), {
    GET: async (ctx, deposit) => {
      const { depositId, revision } = deposit;
      const chosen = chooseRepresentation(ctx, { depositId, revision }, STATEMENT_OFFERS);
      if (!chosen) return;
      const view = await depositService.statement(depositId, revision);
      if (!view) throw notFound(`Deposit ${depositId} has been deleted.`);
      const render = { feed: statementFeed, rdf: statementRdf, json: statementJson }[chosen.format];
      ctx.set('Content-Type', chosen.contentType);
      ctx.body = render({ ...view, author: view.client }, options);
      cache.store(ctx, deposit, () => depositService.contentValidator(deposit));
    },
  });
}
