export type UploadFaultCode =
  | 'TOO_MANY_UPLOADS'
  | 'NO_ROOM_FOR_UPLOAD'
  | 'UPLOAD_GONE'
  | 'UPLOAD_BUSY'
  | 'UPLOAD_TOO_LONG'
  | 'UPLOAD_CHECKSUM_MISMATCH'
  | 'UPLOADS_UNAVAILABLE';

/** What cannot be done with a resumable upload, in a sentence for its client. */
export class UploadFault extends Error {
  override readonly name = 'UploadFault';
  readonly code: UploadFaultCode;

  constructor(code: UploadFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Passes on what `work` gives; its failure becomes a fault that tells no path of this machine. */
export async function orUploadsUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw uploadsUnavailable(cause);
  }
}

export function uploadsUnavailable(cause: unknown): UploadFault {
  const { code = 'unknown fault' } = cause as NodeJS.ErrnoException;
  const text = `The service cannot keep the bytes of uploads at the moment (${code}): go on later.`;
  return new UploadFault('UPLOADS_UNAVAILABLE', text, { cause });
}
