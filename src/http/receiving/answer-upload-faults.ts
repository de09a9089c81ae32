import { SwordError, type SwordErrorCode } from '../../sword/sword-error.ts';
import { UploadFault, type UploadFaultCode } from '../../uploads/upload-fault.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** Tells in SWORD errors what is wrong with a resumable upload, and lets go of the one that a request has named. */
export function answerUploadFaults(): ServiceMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      throw error instanceof UploadFault ? asSwordError(error) : error;
    } finally {
      ctx.state.upload?.[Symbol.dispose]();
    }
  };
}

type Answer = { readonly code: SwordErrorCode; readonly retryAfter?: number };

const ANSWERS: Readonly<Record<UploadFaultCode, Answer>> = {
  TOO_MANY_UPLOADS: { code: 'TooManyRequests', retryAfter: 60 },
  NO_ROOM_FOR_UPLOAD: { code: 'ServiceUnavailable', retryAfter: 60 },
  UPLOAD_GONE: { code: 'NotFound' },
  UPLOAD_BUSY: { code: 'UploadLocked', retryAfter: 2 },
  UPLOAD_TOO_LONG: { code: 'MaxUploadSizeExceeded' },
  UPLOAD_CHECKSUM_MISMATCH: { code: 'UploadChecksumMismatch' },
  UPLOADS_UNAVAILABLE: { code: 'ServiceUnavailable', retryAfter: 5 },
};

function asSwordError(fault: UploadFault): SwordError {
  const { code, retryAfter } = ANSWERS[fault.code];
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return new SwordError(code, fault.message, { headers, cause: fault });
}
