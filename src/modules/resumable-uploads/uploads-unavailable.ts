import { retryAfter, SwordError } from '../../sword/sword-error.ts';

/** Settles like `work`; a failure becomes a 503 without local paths. */
export async function orUploadsUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw uploadsUnavailable(cause);
  }
}

export function uploadsUnavailable(cause: unknown): SwordError {
  const { code = 'unknown fault' } = cause as NodeJS.ErrnoException;
  const text = `The service cannot store uploads at the moment (${code}): continue later.`;
  return retryAfter('ServiceUnavailable', text, 5, cause);
}

export function uploadBusy(text: string): SwordError {
  return retryAfter('UploadLocked', text, 2);
}
