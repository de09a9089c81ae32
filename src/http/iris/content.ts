import type { DepositQueries } from '../../deposits/queries.ts';
import { contentDocument } from '../../sword/documents/content-document.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import { answerVersion } from '../responses/representation.ts';
import type { ResponseCache } from '../responses/response-cache.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

/** CONT-FILE-IRI: a short description of a deposit: id, dates, status. */
export function contentHandler(
  queries: DepositQueries,
  context: RenderContext,
  cache: ResponseCache,
): ServiceMiddleware {
  return depositResource(queries.ownContent, {
    GET: async (ctx, deposit) => {
      const document = { ...deposit, author: deposit.client };
      answerVersion(ctx, deposit, DOCUMENT_OFFERS, () => contentDocument(document, context), context);
      cache.store(ctx, deposit, () => queries.contentValidator(deposit));
    },
  });
}
