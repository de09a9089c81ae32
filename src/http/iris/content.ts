import type { DepositQueries } from '../../deposits/queries.ts';
import type { DepositDocuments } from '../responses/answer-documents.ts';
import type { ResponseCache } from '../responses/response-cache.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

/** CONT-FILE-IRI: the stored content of a deposit. */
export function contentHandler(
  queries: DepositQueries,
  documents: DepositDocuments,
  cache: ResponseCache,
): ServiceMiddleware {
  return depositResource(queries.ownContent, {
    GET: async (ctx, deposit) => {
      documents.content(ctx, deposit);
      cache.store(ctx, deposit, () => queries.contentValidator(deposit));
    },
  });
}
