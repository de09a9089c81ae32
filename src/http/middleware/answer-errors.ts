import type { Context, Middleware } from 'koa';
import type { DepositRefusalCode } from '../../domain/deposit/errors.ts';
import type { ContentMismatch, ObjectStoreUnavailable } from '../../object-store/object-store.ts';
import type { Generator } from '../../sword/documents/document.ts';
import { errorDocument } from '../../sword/documents/error-document.ts';
import { type Format, render } from '../../sword/documents/render.ts';
import { DOCUMENT_OFFERS, FEED_TYPE, negotiate, type Offers } from '../../sword/headers/accept.ts';
import { SWORD_ERRORS, SwordError, type SwordErrorCode } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import type { HttpObserver } from '../http-observer.ts';
import { archiveTooLarge } from '../requests/deposit-request.ts';
import { isClientGone } from '../requests/request-body.ts';
import { answerDocument } from '../responses/representation.ts';
import type { RequestState } from '../service-context.ts';

export type ErrorOptions = {
  readonly depositNamespace: string;
  readonly generator: Generator;
  readonly observer: Pick<HttpObserver, 'refused'>;
};

/** Headers that describe a successful response; an error response drops them. */
const SUCCESS_HEADERS = [
  'ETag',
  'Accept-Ranges',
  'Content-Digest',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Location',
  'Packaging',
  'Repr-Digest',
  'Retry-After', // of a status; that of an error is set afterwards
];

export const ERROR_TYPES: Readonly<Record<Format, string>> = {
  xml: 'application/xml',
  json: 'application/json',
  html: 'text/html',
};

/** Offers for error documents: clients that prefer any kind of XML to JSON get XML. */
const OFFERS: Offers = [
  ...DOCUMENT_OFFERS,
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/rdf+xml', format: 'xml' },
];

/** Answers every error with a SWORD error document (status 400 and up), in JSON where the client prefers it. */
export function answerErrors(logger: Logger, options: ErrorOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (isClientGone(error)) {
        ctx.respond = false;
        ctx.res.destroy();
        return;
      }
      const answer = swordErrorOf(error);
      options.observer.refused(answer.code);
      logError(logger, ctx, error, answer);
      if (ctx.res.headersSent) {
        ctx.res.destroy();
        return;
      }
      for (const name of SUCCESS_HEADERS) ctx.remove(name);
      ctx.set('Cache-Control', 'no-store'); // a public document permits caches to store it for an hour
      ctx.status = answer.status;
      ctx.message ||= SWORD_ERRORS[answer.code].title;
      const { format } = negotiate(OFFERS, ctx.req.headers.accept);
      answerDocument(ctx, ERROR_TYPES[format], errorBody(answer, options, format));
      ctx.set(answer.headers);
      ctx.vary('Accept');
    }
  };
}

/** Logs for the operator the details that the client does not see; the log line of the request has the same id. */
function logError(logger: Logger, ctx: Context, error: unknown, { code, cause }: SwordError): void {
  const { requestId } = ctx.state as Partial<RequestState>; // observeRequests has set it
  const path = ctx.req.url?.split('?', 1)[0]; // Koa's own `path` throws on an invalid URL
  const fields = { requestId, method: ctx.method, path };
  if (code === 'InternalError') logger.error({ ...fields, err: error }, 'unexpected error');
  else if (code === 'ServiceUnavailable' && cause instanceof Error)
    logger.warn({ ...fields, code: 'code' in cause ? cause.code : undefined, err: cause }, 'unavailable');
}

export function errorBody(
  { code, summary, verboseDescription }: SwordError,
  options: Pick<ErrorOptions, 'depositNamespace' | 'generator'>,
  format: Format = 'xml',
): string {
  const error = { code, summary, verboseDescription, updated: clock.date().toISOString() };
  return render(errorDocument(error, options), format, options);
}

const REFUSAL_CODES: Readonly<Record<DepositRefusalCode, SwordErrorCode>> = {
  DEPOSIT_EXISTS: 'Conflict',
  DEPOSIT_NOT_FOUND: 'NotFound',
  DEPOSIT_NOT_PARTIAL: 'MethodNotAllowed',
  NOTHING_DEPOSITED: 'ErrorBadRequest',
  ARCHIVE_NOT_FOUND: 'NotFound',
  TOO_MANY_ARCHIVES: 'ErrorBadRequest',
  TOO_MANY_ENTRIES: 'ErrorBadRequest',
  TOO_MANY_CHANGES: 'ErrorBadRequest',
  VALUE_TOO_LONG: 'ErrorBadRequest',
  ORIGIN_TOO_LONG: 'ErrorBadRequest',
  ORIGIN_OUTSIDE_PROVIDER: 'Forbidden',
  ORIGIN_UNKNOWN: 'NotFound',
  ORIGIN_MISMATCH: 'ErrorBadRequest',
  DEPOSIT_NOT_REJECTED: 'Conflict',
  DEPOSIT_NOT_FAILED: 'Conflict',
  DEPOSIT_NOT_DONE: 'MethodNotAllowed',
  SWHID_MISMATCH: 'ErrorBadRequest',
  METADATA_REJECTED: 'ErrorBadRequest',
  REFERENCE_OUT_OF_PLACE: 'ErrorBadRequest',
  REFERENCE_UNKNOWN: 'ErrorBadRequest',
  PROVENANCE_OUTSIDE_PROVIDER: 'Forbidden',
};

type StoreCode = ContentMismatch['code'] | ObjectStoreUnavailable['code'];

const OTHER_CODES: Readonly<Record<StoreCode, SwordErrorCode> & Record<string, SwordErrorCode>> = {
  MD5_MISMATCH: 'ErrorChecksumMismatch',
  SHA256_MISMATCH: 'ErrorChecksumMismatch',
  LENGTH_MISMATCH: 'ErrorChecksumMismatch',
  TOO_LARGE: 'MaxUploadSizeExceeded',
  ARCHIVE_STORE_UNAVAILABLE: 'ServiceUnavailable',
  EVENT_LOG_UNAVAILABLE: 'ServiceUnavailable',
  READERS_BUSY: 'ServiceUnavailable',
  POOL_BUSY: 'ServiceUnavailable',
  VIEW_UNAVAILABLE: 'ServiceUnavailable',
  CONCURRENT_WRITES: 'Conflict',
  WRONG_EXPECTED_REVISION: 'Conflict',
  REVISION_NOT_MATCHED: 'ETagNotMatched',
};

const ERROR_CODES = new Map<string, SwordErrorCode>(Object.entries({ ...REFUSAL_CODES, ...OTHER_CODES }));

/** Summaries of conditions that the client could not know; the other errors are described by their own messages. */
const SUMMARIES: Partial<Record<SwordErrorCode, string>> = {
  // An append without a response may have been committed, so this does not claim that nothing was stored.
  ServiceUnavailable: 'The event log or the archive store is not available at the moment: try again later.',
  Conflict: 'Others changed the deposit at the same time: read it again, then repeat.',
  ETagNotMatched: 'The deposit has changed since you read it: read it again, then repeat.',
};

function swordErrorOf(error: unknown): SwordError {
  if (error instanceof SwordError) return error;
  if (error instanceof URIError) return new SwordError('NotFound', 'The path is not percent-encoded UTF-8.');
  const cause = error instanceof Error && 'code' in error ? error : undefined;
  const code = cause && ERROR_CODES.get(String(cause.code));
  if (!code)
    return new SwordError(
      'InternalError',
      'An unexpected error occurred; the operator can find it in the log.',
    );
  if (code === 'MaxUploadSizeExceeded') return archiveTooLarge(cause.message, cause);
  const headers = code === 'ServiceUnavailable' ? { 'Retry-After': '5' } : { ...allowHeader(code) };
  return new SwordError(code, summaryOf(cause, code), { headers, cause });
}

function summaryOf(cause: Error & { readonly code?: unknown }, code: SwordErrorCode): string {
  if (cause.code === 'READERS_BUSY') return cause.message;
  if (cause.code === 'POOL_BUSY') return 'Archives cannot be read at the moment: try again later.';
  return SUMMARIES[code] ?? cause.message;
}

/** Returns the `Allow` header for a deposit that was completed while its change was in progress. */
function allowHeader(code: SwordErrorCode): Record<string, string> | undefined {
  return code === 'MethodNotAllowed' ? { Allow: 'GET, HEAD, OPTIONS' } : undefined;
}
