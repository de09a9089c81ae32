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

const DEFINITIONS = {
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
} satisfies Readonly<Record<string, ErrorDefinition>>;

export type SwordErrorCode = keyof typeof DEFINITIONS;

/** All errors that are answered. */
export const SWORD_ERRORS: Readonly<Record<SwordErrorCode, ErrorDefinition>> = DEFINITIONS;

export type SwordErrorOptions = {
  /** Values and limits in addition to the summary. Default: the summary. */
  readonly verboseDescription?: string;
  /** HTTP status in place of that of the code, for requests that HTTP itself refuses. */
  readonly status?: number;
  /** Headers of the response, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** A refused request. The summary is one sentence a depositor can act on. */
export class SwordError extends Error {
  override readonly name = 'SwordError';
  readonly code: SwordErrorCode;
  readonly verboseDescription: string;
  readonly headers: Readonly<Record<string, string>>;
  /** HTTP status of the response. */
  readonly status: number;

  constructor(code: SwordErrorCode, summary: string, options: SwordErrorOptions = {}) {
    super(summary, options);
    this.code = code;
    this.verboseDescription = options.verboseDescription ?? summary;
    this.headers = options.headers ?? {};
    this.status = options.status ?? SWORD_ERRORS[code].status;
  }

  get summary(): string {
    return this.message;
  }
}

export function notFound(summary: string): SwordError {
  return new SwordError('NotFound', summary);
}

export function badRequest(summary: string, options: SwordErrorOptions = {}): SwordError {
  return new SwordError('ErrorBadRequest', summary, options);
}

/** Builds the error for a method that is not possible now; `allow` lists those that are. */
export function notAllowed(
  method: string,
  allow: string,
  summary = `${method} is not possible here.`,
): SwordError {
  return new SwordError('MethodNotAllowed', summary, {
    verboseDescription: `Possible now: ${allow}.`,
    headers: { Allow: allow },
  });
}

export function checksumMismatch(summary: string): SwordError {
  return new SwordError('ErrorChecksumMismatch', summary);
}

/** Builds the error for a request that may succeed when it is repeated after this number of seconds. */
export function retryAfter(
  code: 'ServiceUnavailable' | 'TooManyRequests' | 'UploadLocked',
  summary: string,
  seconds: number,
  cause?: unknown,
): SwordError {
  return new SwordError(code, summary, {
    headers: { 'Retry-After': String(seconds) },
    ...(cause !== undefined && { cause }),
  });
}

/** Quotes text of a client, shortened. */
export function quoted(text: string): string {
  return `"${shortened(text)}"`;
}

export function shortened(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79).toWellFormed()}…`;
}
