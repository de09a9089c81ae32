import { render } from '../../sword/documents/render.ts';
import { statementFeed } from '../../sword/documents/statement.ts';
import { statementRdf } from '../../sword/documents/statement-rdf.ts';
import { FEED_TYPE, type Offers, PAGE } from '../../sword/headers/accept.ts';
import type { ReadParts } from '../handler-parts.ts';
import { answerDocument, chooseRepresentation } from '../responses/representation.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

export const STATEMENT_OFFERS: Offers<'xml' | 'rdf' | 'json' | 'html'> = [
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/rdf+xml', format: 'rdf' },
  { contentType: 'application/json', format: 'json' },
  PAGE,
];

/** At the IRI of the resource map, also for clients that do not accept it: many send no `Accept`. */
export const STATEMENT_RDF_OFFERS: typeof STATEMENT_OFFERS = [
  { contentType: 'application/rdf+xml', format: 'rdf' },
  PAGE,
];

/** Serves the SWORD Statement of a deposit as a feed, a resource map, JSON or a page. */
export function statementHandler(parts: ReadParts, offers = STATEMENT_OFFERS): ServiceMiddleware {
  const { queries, cache } = parts;
  return depositResource(queries.ownContent, {
    GET: async (ctx, deposit) => {
      const chosen = chooseRepresentation(ctx, deposit, offers);
      if (!chosen) return;
      const { contentType, format } = chosen;
      const body =
        format === 'rdf'
          ? statementRdf(deposit, parts)
          : render(statementFeed(deposit, parts), format, parts);
      answerDocument(ctx, contentType, body);
      cache.store(ctx, deposit, () => queries.contentValidator(deposit));
    },
  });
}
