import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositDocuments } from '../answering/answer-documents.ts';
import type { RememberedAnswers } from '../answering/remembered-answers.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** CONT-FILE-IRI. */
export function contentIri(
  desk: DepositDesk,
  documents: DepositDocuments,
  answers: RememberedAnswers,
): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => desk.content(id), {
    GET: async (ctx, deposit) => {
      documents.content(ctx, deposit);
      answers.keep(ctx, deposit, () => desk.contentStays(deposit));
    },
  });
}
