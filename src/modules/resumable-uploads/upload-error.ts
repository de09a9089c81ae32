export type UploadErrorCode =
  | 'TOO_MANY_UPLOADS'
  | 'NO_ROOM_FOR_UPLOAD'
  | 'UPLOAD_GONE'
  | 'UPLOAD_BUSY'
  | 'UPLOAD_TOO_LONG'
  | 'UPLOAD_CHECKSUM_MISMATCH'
  | 'UPLOADS_UNAVAILABLE';

/** An error of a resumable upload, with a sentence for its client. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
  readonly code: UploadErrorCode;

  constructor(code: UploadErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Rejects with an error without local paths if `work` rejects. */
export async function wrapUploadErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw uploadsUnavailable(cause);
  }
}

export function uploadsUnavailable(cause: unknown): UploadError {
  const { code = 'unknown fault' } = cause as NodeJS.ErrnoException;
  const text = `The service cannot keep the bytes of uploads at the moment (${code}): go on later.`;
  return new UploadError('UPLOADS_UNAVAILABLE', text, { cause });
}
