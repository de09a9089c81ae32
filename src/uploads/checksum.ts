import { UploadFault } from './upload-fault.ts';

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'md5'] as const;

/** What a client says its bytes are. */
export type Checksum = {
  readonly algorithm: (typeof CHECKSUM_ALGORITHMS)[number];
  readonly digest: Buffer;
};

/** The fault of bytes that are not those that the client promised. */
export function mismatch({ algorithm, digest }: Checksum, found: Buffer): UploadFault {
  const [promised, computed] = [digest.toString('base64'), found.toString('base64')];
  const text = `The ${algorithm} promised is ${promised}, but the bytes received have ${computed}: send them again.`;
  return new UploadFault('UPLOAD_CHECKSUM_MISMATCH', text);
}
