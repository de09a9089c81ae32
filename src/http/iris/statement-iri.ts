import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { Language } from '../../sword/documents/language.ts';
import { statementFeed, statementJson } from '../../sword/documents/statement-feed.ts';
import { statementRdf } from '../../sword/documents/statement-rdf.ts';
import { FEED_TYPE, type Offers } from '../../sword/headers/negotiate.ts';
import { notFound } from '../../sword/sword-error.ts';
import { chooseRepresentation } from '../answering/choose-representation.ts';
import type { RememberedAnswers } from '../answering/remembered-answers.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

export const STATEMENT_OFFERS: Offers<'feed' | 'rdf' | 'json'> = [
  { contentType: FEED_TYPE, format: 'feed' },
  { contentType: 'application/xml', format: 'feed' },
  { contentType: 'application/rdf+xml', format: 'rdf' },
  { contentType: 'application/json', format: 'json' },
];

/** Where the SWORD Statement of a deposit is, as a feed, as a resource map or as JSON. */
export function statementIri(
  desk: DepositDesk,
  options: Language,
  answers: RememberedAnswers,
): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => desk.content(id), {
    GET: async (ctx, deposit) => {
      const { depositId, revision } = deposit;
      const chosen = chooseRepresentation(ctx, { depositId, revision }, STATEMENT_OFFERS);
      if (!chosen) return;
      const view = await desk.statement(depositId, revision);
      if (!view) throw notFound(`Deposit ${depositId} has been deleted.`);
      const render = { feed: statementFeed, rdf: statementRdf, json: statementJson }[chosen.format];
      ctx.set('Content-Type', chosen.contentType);
      ctx.body = render({ ...view, author: view.client }, options);
      answers.keep(ctx, deposit, () => desk.contentStays(deposit));
    },
  });
}
