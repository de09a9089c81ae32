import type { Context, Middleware } from 'koa';
import type { ArchiveStoreUnavailable, BrokenPromise } from '../../archive-store/archive-store.ts';
import type { DepositRefusalCode } from '../../domain/deposit/errors.ts';
import type { Logger } from '../../logger.ts';
import {
  errorDocument,
  errorDocumentJson,
  errorStatus,
  errorTitle,
} from '../../sword/documents/error-document.ts';
import type { Generator } from '../../sword/documents/generator.ts';
import { DOCUMENT_OFFERS, FEED_TYPE, negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { SwordError, type SwordErrorCode } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { HttpObserver } from '../http-observer.ts';
import { archiveTooLarge } from '../receiving/deposit-request.ts';
import { holdsBodyBack, isClientGone } from '../receiving/request-body.ts';
import type { ServiceState } from '../service-context.ts';

export type ErrorOptions = {
  readonly depositNamespace: string;
  readonly generator: Generator;
  readonly observer: Pick<HttpObserver, 'refused'>;
};

/** Headers that tell of the answer that was to be given. */
const OF_SUCCESS = [
  'ETag',
  'Content-Digest',
  'Content-Disposition',
  'Content-Length',
  'Location',
  'Packaging',
  'Repr-Digest',
];

/** The media types of the error document. */
export const ERROR_TYPES = { xml: 'application/xml', json: 'application/json' } as const;

/** Whoever would rather have XML of some kind than JSON is told in XML. */
const OFFERS: Offers = [
  ...DOCUMENT_OFFERS,
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/rdf+xml', format: 'xml' },
];

/** Every answer from 400 up, whatever caused it, is a SWORD error document; as JSON where that is preferred. */
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
      tell(logger, ctx, error, answer);
      if (ctx.res.headersSent) {
        ctx.res.destroy();
        return;
      }
      for (const name of OF_SUCCESS) ctx.remove(name);
      // A body that was never sent will not come: the connection would be out of step.
      if (holdsBodyBack(ctx)) ctx.set('Connection', 'close');
      ctx.status = errorStatus(answer.code);
      ctx.message ||= errorTitle(answer.code);
      const { format } = negotiateAmong(OFFERS, ctx.req.headers.accept);
      ctx.body = errorBody(answer, options, format);
      ctx.set(answer.headers);
      ctx.vary('Accept');
      ctx.set('Content-Type', ERROR_TYPES[format]);
    }
  };
}

/** To the operator, what the client is not told; the line of the request has the same id. */
function tell(logger: Logger, ctx: Context, error: unknown, { code, cause }: SwordError): void {
  const { requestId } = ctx.state as Partial<ServiceState>; // observeRequests has been there before
  const path = ctx.req.url?.split('?', 1)[0]; // Koa's own throws at what is no URL
  const about = { requestId, method: ctx.method, path };
  if (code === 'InternalError') logger.error({ ...about, err: error }, 'unexpected error');
  else if (code === 'ServiceUnavailable' && cause instanceof Error)
    logger.warn({ ...about, code: 'code' in cause ? cause.code : undefined, err: cause }, 'unavailable');
}

export function errorBody(
  { code, summary, verboseDescription }: SwordError,
  options: Pick<ErrorOptions, 'depositNamespace' | 'generator'>,
  format: keyof typeof ERROR_TYPES = 'xml',
): string {
  const render = { xml: errorDocument, json: errorDocumentJson }[format];
  return render({ code, summary, verboseDescription, updated: clock.date().toISOString() }, options);
}

const REFUSALS: Readonly<Record<DepositRefusalCode, SwordErrorCode>> = {
  DEPOSIT_EXISTS: 'Conflict',
  DEPOSIT_NOT_FOUND: 'NotFound',
  DEPOSIT_NOT_PARTIAL: 'MethodNotAllowed',
  NOTHING_DEPOSITED: 'ErrorBadRequest',
  ARCHIVE_NOT_FOUND: 'NotFound',
  TOO_MANY_ARCHIVES: 'ErrorBadRequest',
  TOO_MANY_ENTRIES: 'ErrorBadRequest',
  TOO_MANY_CHANGES: 'ErrorBadRequest',
  ORIGIN_OUTSIDE_PROVIDER: 'Forbidden',
  ORIGIN_UNKNOWN: 'NotFound',
  DEPOSIT_NOT_REJECTED: 'Conflict',
  DEPOSIT_NOT_FAILED: 'Conflict',
  DEPOSIT_NOT_DONE: 'MethodNotAllowed',
  SWHID_MISMATCH: 'ErrorBadRequest',
  METADATA_REJECTED: 'ErrorBadRequest',
  REFERENCE_OUT_OF_PLACE: 'ErrorBadRequest',
  REFERENCE_UNKNOWN: 'ErrorBadRequest',
  PROVENANCE_OUTSIDE_PROVIDER: 'Forbidden',
};

type OtherCode =
  | BrokenPromise['code']
  | ArchiveStoreUnavailable['code']
  | 'EVENT_LOG_UNAVAILABLE'
  | 'VIEW_UNAVAILABLE'
  | 'CONCURRENT_WRITES'
  | 'WRONG_EXPECTED_REVISION'
  | 'REVISION_NOT_MATCHED';

const OTHERS: Readonly<Record<OtherCode, SwordErrorCode>> = {
  MD5_MISMATCH: 'ErrorChecksumMismatch',
  SHA256_MISMATCH: 'ErrorChecksumMismatch',
  LENGTH_MISMATCH: 'ErrorChecksumMismatch',
  TOO_LARGE: 'MaxUploadSizeExceeded',
  ARCHIVE_STORE_UNAVAILABLE: 'ServiceUnavailable',
  EVENT_LOG_UNAVAILABLE: 'ServiceUnavailable',
  VIEW_UNAVAILABLE: 'ServiceUnavailable',
  CONCURRENT_WRITES: 'Conflict',
  WRONG_EXPECTED_REVISION: 'Conflict',
  REVISION_NOT_MATCHED: 'ETagNotMatched',
};

const ANSWERS = new Map<string, SwordErrorCode>(Object.entries({ ...REFUSALS, ...OTHERS }));

/** Summaries of what the client could not have known; the others say it best themselves. */
const SUMMARIES: Partial<Record<SwordErrorCode, string>> = {
  // An append that got no answer may have been committed: that nothing was stored is not known.
  ServiceUnavailable: 'The event log or the archive store is not available at the moment: try again later.',
  Conflict: 'Others changed the deposit at the same time: read it again, then repeat.',
  ETagNotMatched: 'The deposit has changed since you read it: read it again, then repeat.',
};

function swordErrorOf(error: unknown): SwordError {
  if (error instanceof SwordError) return error;
  if (error instanceof URIError) return new SwordError('NotFound', 'The path is not percent-encoded UTF-8.');
  const code = error instanceof Error && 'code' in error ? ANSWERS.get(String(error.code)) : undefined;
  if (!code)
    return new SwordError(
      'InternalError',
      'An unexpected error occurred; the operator can find it in the log.',
    );
  if (code === 'MaxUploadSizeExceeded') return archiveTooLarge((error as Error).message, error as Error);
  const summary = SUMMARIES[code] ?? (error as Error).message;
  const headers = code === 'ServiceUnavailable' ? { 'Retry-After': '5' } : { ...allowHeader(code) };
  return new SwordError(code, summary, { headers, cause: error });
}

/** A deposit that was completed while its change was under way. */
function allowHeader(code: SwordErrorCode): Record<string, string> | undefined {
  return code === 'MethodNotAllowed' ? { Allow: 'GET, HEAD, OPTIONS' } : undefined;
}
