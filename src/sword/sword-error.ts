export type SwordErrorCode =
  | 'ErrorBadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'Conflict'
  | 'ErrorChecksumMismatch'
  | 'MediationNotAllowed'
  | 'ETagNotMatched'
  | 'MaxUploadSizeExceeded'
  | 'ErrorContent'
  | 'RangeNotSatisfiable'
  | 'TusVersionNotSupported'
  | 'UploadLocked'
  | 'TooManyRequests'
  | 'UploadChecksumMismatch'
  | 'InternalError'
  | 'ServiceUnavailable';

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
  readonly status: number | undefined;

  constructor(code: SwordErrorCode, summary: string, options: SwordErrorOptions = {}) {
    super(summary, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.verboseDescription = options.verboseDescription ?? summary;
    this.headers = options.headers ?? {};
    this.status = options.status;
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
