import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { withIdentifiers } from '../../swhid/deposit-identifiers.ts';
import { statusDocument } from '../../sword/documents/status-document.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/accept.ts';
import type { ReadParts } from '../handler-parts.ts';
import { answerVersion } from '../responses/representation.ts';
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
export function statusHandler(parts: ReadParts & { readonly refIdAliases: boolean }): ServiceMiddleware {
  const { queries, cache } = parts;
  return depositResource(queries.ownStatus, {
    GET: async (ctx, deposit) => {
      ctx.status = 201; // the code the interface states for success
      const seconds = RETRY_AFTER_SECONDS[deposit.status];
      if (seconds !== undefined) ctx.set('Retry-After', String(seconds));
      const describe = () => statusDocument(withIdentifiers(deposit), parts);
      answerVersion(ctx, deposit, DOCUMENT_OFFERS, describe, parts);
      cache.store(ctx, deposit, () => queries.statusValidator(deposit));
    },
  });
}
