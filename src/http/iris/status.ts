import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { DepositQueries } from '../../deposits/queries.ts';
import type { DepositDocuments } from '../responses/answer-documents.ts';
import type { ResponseCache } from '../responses/response-cache.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

/** Seconds for `Retry-After`, by status; final statuses have none. */
const RETRY_AFTER_SECONDS: Partial<Record<DepositStatusView['status'], number>> = {
  partial: 60,
  deposited: 2,
  verified: 2,
  loading: 2,
};

/** State-IRI: the status of a deposit. */
export function statusHandler(
  queries: DepositQueries,
  documents: DepositDocuments,
  cache: ResponseCache,
): ServiceMiddleware {
  return depositResource(queries.ownStatus, {
    GET: async (ctx, deposit) => {
      ctx.status = 201; // the code the interface states for success
      const seconds = RETRY_AFTER_SECONDS[deposit.status];
      if (seconds !== undefined) ctx.set('Retry-After', String(seconds));
      documents.status(ctx, deposit);
      cache.store(ctx, deposit, () => queries.statusValidator(deposit));
    },
  });
}
