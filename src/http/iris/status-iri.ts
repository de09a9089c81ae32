import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { DepositDocuments } from '../answering/answer-documents.ts';
import type { RememberedAnswers } from '../answering/remembered-answers.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** Seconds after which asking again makes sense, by status; none for the final ones. */
const RETRY_AFTER: Partial<Record<DepositStatusView['status'], number>> = {
  partial: 60,
  deposited: 2,
  verified: 2,
  loading: 2,
};

/** State-IRI. */
export function statusIri(
  desk: DepositDesk,
  documents: DepositDocuments,
  answers: RememberedAnswers,
): ServiceMiddleware {
  return depositResource<DepositStatusView>((id) => desk.status(id), {
    GET: async (ctx, deposit) => {
      ctx.status = 201; // the code the interface states for success
      const seconds = RETRY_AFTER[deposit.status];
      if (seconds !== undefined) ctx.set('Retry-After', String(seconds));
      documents.status(ctx, deposit);
      answers.keep(ctx, deposit, () => desk.statusStays(deposit));
    },
  });
}
