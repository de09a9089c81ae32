import { DIRECTORY_OFFERS } from '../answering/answer-object.ts';
import { documentContent } from './content.ts';
import type { OperationsOf } from './operation.ts';

const isDocument = ({ format }: (typeof DIRECTORY_OFFERS)[number]): boolean =>
  format === 'xml' || format === 'json';
const [first, ...more] = DIRECTORY_OFFERS.filter(isDocument);
const bytes = DIRECTORY_OFFERS.filter((offer) => !isDocument(offer)).map(({ contentType }) => [
  contentType,
  {},
]);

export const RESOLVE_OPERATIONS: OperationsOf<'resolve'> = {
  resolve: {
    get: {
      id: 'resolveIdentifier',
      tag: 'Identifiers',
      summary: 'What a SWHID names, or its bytes',
      parameters: ['below', 'ifNoneMatch'],
      answers: {
        200: {
          description: 'The document, or the bytes: application/x-tar of directories only.',
          headers: ['ETagOfBytes', 'ContentDispositionOfBytes'],
          content: {
            ...(first && documentContent([first, ...more], 'ObjectDocument', 'atom:entry')),
            ...Object.fromEntries(bytes),
          },
        },
        304: { description: 'The client holds the bytes already.', headers: ['ETag'] },
      },
      refusals: ['NotFound'],
    },
  },
};
