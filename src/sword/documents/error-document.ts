import { ATOM, SWORD_ERROR } from '../namespaces.ts';
import type { SwordErrorCode } from '../sword-error.ts';
import { element, xmlBody } from '../xml/xml-body.ts';
import { type Generator, generatorElement } from './generator.ts';

export type ErrorDocument = {
  readonly code: SwordErrorCode;
  readonly summary: string;
  readonly verboseDescription: string;
  /** RFC 3339 in UTC. */
  readonly updated: string;
};

/** Renders the body of every response from 400 up. */
export function errorDocument(
  error: ErrorDocument,
  { depositNamespace, generator }: { depositNamespace: string; generator: Generator },
): string {
  const children = [
    element('title', SWORD_ERRORS[error.code].title),
    element('updated', error.updated),
    generatorElement(generator),
    element('summary', error.summary),
    element('sword:treatment', TREATMENT),
    element('sword:verboseDescription', error.verboseDescription),
  ];
  const root = element('sword:error', children, { href: errorIri(error.code, depositNamespace) });
  return xmlBody(root, { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function errorDocumentJson(
  error: ErrorDocument,
  { depositNamespace, generator }: { depositNamespace: string; generator: Generator },
): string {
  return JSON.stringify({
    href: errorIri(error.code, depositNamespace),
    title: SWORD_ERRORS[error.code].title,
    updated: error.updated,
    generator,
    summary: error.summary,
    treatment: TREATMENT,
    verbose_description: error.verboseDescription,
  });
}

const TREATMENT = 'processing failed';

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
  UploadLocked: { status: 423, of: 'service', title: 'Upload locked' },
  TooManyRequests: { status: 429, of: 'service', title: 'Too many requests' },
  UploadChecksumMismatch: { status: 460, of: 'service', title: 'Checksum mismatch' },
  InternalError: { status: 500, of: 'service', title: 'Internal error' },
  ServiceUnavailable: { status: 503, of: 'service', title: 'Service unavailable' },
};
