import { humanDate } from './deposit-date.ts';
import { atomFacts, type DepositModel, headFacts } from './deposit-model.ts';
import { type Document, depositFields, type RenderContext, text } from './document.ts';

export type ContentDocument = Omit<DepositModel, 'archive' | 'loaded'>;

/** Describes the document of the CONT-FILE-IRI. */
export function contentDocument(document: ContentDocument, { iris }: Pick<RenderContext, 'iris'>): Document {
  const { depositId, collection, createdAt, status, statusDetail } = document;
  return {
    element: 'entry',
    isHot: true,
    facts: [
      ...headFacts(document),
      text('published', createdAt),
      ...atomFacts(document, iris.content(collection, depositId)),
      ...depositFields({
        deposit_id: depositId,
        deposit_date: humanDate(new Date(createdAt)),
        deposit_status: status,
        deposit_status_detail: statusDetail,
      }),
    ],
  };
}
