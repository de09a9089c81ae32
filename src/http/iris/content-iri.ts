import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositDocuments } from '../answer-documents.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** CONT-FILE-IRI. */
export function contentIri(desk: DepositDesk, documents: DepositDocuments): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => desk.content(id), {
    GET: async (ctx, deposit) => documents.content(ctx, deposit),
  });
}
