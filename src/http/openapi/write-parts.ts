import { ACCEPTABLE_TYPES } from '../../domain/collection/collection.ts';
import { COMPRESSED_TAR_TYPES } from '../../sword/headers/media-type.ts';
import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import type { SwordErrorCode } from '../../sword/sword-error.ts';
import { documentContent } from './content.ts';
import type { Answer } from './operation.ts';
import type { ParameterName } from './parameters.ts';

/** Media types of archives: what a collection may take, as told by its service document. */
export const ARCHIVE_TYPES: readonly string[] = [...ACCEPTABLE_TYPES, ...COMPRESSED_TAR_TYPES];

/** Headers of every request that brings something. */
export const OF_CONTENT = [
  'contentMd5',
  'contentDigest',
  'reprDigest',
  'contentDisposition',
  'packaging',
  'onBehalfOf',
] as const satisfies readonly ParameterName[];

/** What a request may be refused for by what it brings. */
export const REFUSALS_OF_CONTENT: readonly SwordErrorCode[] = [
  'NotFound',
  'Conflict',
  'ErrorChecksumMismatch',
  'MediationNotAllowed',
  'MaxUploadSizeExceeded',
  'ErrorContent',
];

/** What a write to a deposit may be refused for by its state. */
export const REFUSALS_OF_STATE: readonly SwordErrorCode[] = [
  'NotFound',
  'MethodNotAllowed',
  'Conflict',
  'MediationNotAllowed',
  'ETagNotMatched',
];

export const receiptContent = documentContent(DOCUMENT_OFFERS, 'Receipt', 'atom:entry');

export const changed: Answer = { description: 'Done.', headers: ['ETag'] };

export const deleted: Answer = { description: 'Done.' };

export const notModified: Answer = { description: 'The client holds it already.', headers: ['ETag'] };

export function created(what: string): Answer {
  return { description: what, headers: ['Location', 'ETag'], content: receiptContent };
}
