import { contentDocument } from '../../sword/documents/content-document.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/accept.ts';
import type { ReadParts } from '../handler-parts.ts';
import { answerVersion } from '../responses/representation.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

/** CONT-FILE-IRI: a short description of a deposit: id, dates, status. */
export function contentHandler(parts: ReadParts): ServiceMiddleware {
  const { queries, cache } = parts;
  return depositResource(queries.ownContent, {
    GET: async (ctx, deposit) => {
      answerVersion(ctx, deposit, DOCUMENT_OFFERS, () => contentDocument(deposit, parts), parts);
      cache.store(ctx, deposit, () => queries.contentValidator(deposit));
    },
  });
}
