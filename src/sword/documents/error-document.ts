import { SWORD_ERROR } from '../namespaces.ts';
import type { SwordErrorCode } from '../sword-error.ts';
import { type Document, generatorFact, onlyJson, type RenderContext, text } from './document.ts';

export type ErrorDocument = {
  readonly code: SwordErrorCode;
  readonly summary: string;
  readonly verboseDescription: string;
  /** RFC 3339 in UTC. */
  readonly updated: string;
};

/** Describes the body of every response from 400 up. */
export function errorDocument(
  { code, updated, summary, verboseDescription }: ErrorDocument,
  { depositNamespace, generator }: Pick<RenderContext, 'depositNamespace' | 'generator'>,
): Document {
  const href = errorIri(code, depositNamespace);
  return {
    element: 'sword:error',
    isHot: true, // nothing is loaded for it, which would fail while no file can be opened
    attributes: { href },
    facts: [
      ...onlyJson({ href }),
      text('title', SWORD_ERRORS[code].title),
      text('updated', updated),
      generatorFact(generator),
      text('summary', summary),
      text('treatment', 'processing failed', 'sword:treatment'),
      text('verbose_description', verboseDescription, 'sword:verboseDescription'),
    ],
  };
}

export function errorIri(code: SwordErrorCode, depositNamespace: string): string {
  const { of, name = code } = SWORD_ERRORS[code];
  return `${of === 'SWORD' ? SWORD_ERROR : serviceErrorNamespace(depositNamespace)}${name}`;
}

/** Returns the beginning of the IRIs of errors that this service defines. */
export function serviceErrorNamespace(depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/error/`;
}

/**
 * HTTP status and names of an error. `of`: who defines it, SWORD 2.0 or this service. `name`: its SWORD name, if
 * different.
 */
type ErrorDefinition = {
  readonly status: number;
  readonly of: 'SWORD' | 'service';
  readonly title: string;
  readonly name?: string;
};

/** All errors that are answered. */
export const SWORD_ERRORS: Readonly<Record<SwordErrorCode, ErrorDefinition>> = {
  ErrorBadRequest: { status: 400, of: 'SWORD', title: 'Bad request' },
  Unauthorized: { status: 401, of: 'service', title: 'Unauthorized' },
  Forbidden: { status: 403, of: 'service', title: 'Forbidden' },
  NotFound: { status: 404, of: 'service', title: 'Not found' },
  MethodNotAllowed: { status: 405, of: 'SWORD', title: 'Method not allowed' },
  // One error of SWORD 2.0 has two statuses.
  NotAcceptable: { status: 406, of: 'SWORD', title: 'Packaging not available', name: 'ErrorContent' },
  Conflict: { status: 409, of: 'service', title: 'Conflict' },
  ErrorChecksumMismatch: { status: 412, of: 'SWORD', title: 'Checksum mismatch' },
  MediationNotAllowed: { status: 412, of: 'SWORD', title: 'Mediation not allowed' },
  ETagNotMatched: { status: 412, of: 'service', title: 'ETag not matched' },
  TusVersionNotSupported: { status: 412, of: 'service', title: 'Version of tus not supported' },
  MaxUploadSizeExceeded: { status: 413, of: 'SWORD', title: 'Maximum upload size exceeded' },
  ErrorContent: { status: 415, of: 'SWORD', title: 'Unsupported media type' },
  RangeNotSatisfiable: { status: 416, of: 'service', title: 'Range not satisfiable' },
  UploadLocked: { status: 423, of: 'service', title: 'Upload locked' },
  TooManyRequests: { status: 429, of: 'service', title: 'Too many requests' },
  UploadChecksumMismatch: { status: 460, of: 'service', title: 'Checksum mismatch' },
  InternalError: { status: 500, of: 'service', title: 'Internal error' },
  ServiceUnavailable: { status: 503, of: 'service', title: 'Service unavailable' },
};
