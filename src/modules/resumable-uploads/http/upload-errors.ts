import type { ServiceMiddleware } from '../../../http/service-context.ts';
import { SwordError, type SwordErrorCode } from '../../../sword/sword-error.ts';
import { UploadError, type UploadErrorCode } from '../upload-error.ts';

/** Turns errors of resumable uploads into SWORD errors, and unlocks the upload that a request has named. */
export function answerUploadErrors(): ServiceMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      throw error instanceof UploadError ? asSwordError(error) : error;
    } finally {
      ctx.state.namedArchive?.[Symbol.dispose]();
    }
  };
}

type Answer = { readonly code: SwordErrorCode; readonly retryAfter?: number };

const ANSWERS: Readonly<Record<UploadErrorCode, Answer>> = {
  TOO_MANY_UPLOADS: { code: 'TooManyRequests', retryAfter: 60 },
  NO_ROOM_FOR_UPLOAD: { code: 'ServiceUnavailable', retryAfter: 60 },
  UPLOAD_GONE: { code: 'NotFound' },
  UPLOAD_BUSY: { code: 'UploadLocked', retryAfter: 2 },
  UPLOAD_TOO_LONG: { code: 'MaxUploadSizeExceeded' },
  UPLOAD_CHECKSUM_MISMATCH: { code: 'UploadChecksumMismatch' },
  UPLOADS_UNAVAILABLE: { code: 'ServiceUnavailable', retryAfter: 5 },
};

function asSwordError(fault: UploadError): SwordError {
  const { code, retryAfter } = ANSWERS[fault.code];
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return new SwordError(code, fault.message, { headers, cause: fault });
}
