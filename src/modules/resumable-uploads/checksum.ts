import { UploadError } from './upload-error.ts';

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'md5'] as const;

/** Checksum that a client sends with its bytes. */
export type Checksum = {
  readonly algorithm: (typeof CHECKSUM_ALGORITHMS)[number];
  readonly digest: Buffer;
};

/** Builds the error for bytes that do not have the promised checksum. */
export function mismatch({ algorithm, digest }: Checksum, found: Buffer): UploadError {
  const [promised, computed] = [digest.toString('base64'), found.toString('base64')];
  const text = `The ${algorithm} promised is ${promised}, but the bytes received have ${computed}: send them again.`;
  return new UploadError('UPLOAD_CHECKSUM_MISMATCH', text);
}
