import { sniffFormat } from '../../archives/format.ts';
import type { ArchiveFormat } from '../../archives/inspection.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import type { Digests } from '../../sword/headers/digest-fields.ts';
import { isArchiveType, TAR_TYPE, UNSPECIFIC_TYPES, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { badRequest, SwordError } from '../../sword/sword-error.ts';
import { type Accepted, unaccepted } from './deposit-request.ts';
import { observeUpload } from './observed-upload.ts';
import type { ReceiveOptions } from './receive-content.ts';
import { verifyingBytes } from './verify-digests.ts';

/** Facts of an archive that are known before its bytes arrive. */
export type AnnouncedArchive = {
  readonly filename: string;
  /** Media type as the client declared it. */
  readonly mediaType: string;
  readonly md5: string | null;
  readonly digests: Digests;
  /** Exact number of bytes, if declared. */
  readonly length: number | null;
  /** Bodies that the target of the request accepts. */
  readonly accepted: Accepted;
};

/**
 * Streams an archive into the store; it is complete and durable when this resolves. The bytes determine its media type,
 * and with it whether the collection accepts it, since many clients send one label for all formats.
 */
export async function receiveArchive(
  body: AsyncIterable<Uint8Array>,
  { filename, mediaType: label, md5, digests, length, accepted }: AnnouncedArchive,
  { store, maxUploadSize: maxLength, observer }: ReceiveOptions,
): Promise<Archive> {
  const { sha256, sha512 } = digests;
  const others = { ...(sha256 !== null && { sha256 }), ...(length !== null && { length }) };
  const expected = { maxLength, ...(md5 && { md5 }), ...others };
  let mediaType = label;
  const judge = (format: ArchiveFormat): void => {
    mediaType = typeOf(format, label);
    if (!isArchiveType(mediaType, accepted.archives)) throw unaccepted(mediaType, accepted.archives);
  };
  const stored = await observeUpload(body, observer, (bytes) =>
    // The store computes SHA-256 in any case.
    store.put(detectFormat(verifyingBytes(bytes, { sha256: null, sha512 }), judge), expected),
  );
  return { sha256: stored.sha256, length: stored.length, md5, filename, mediaType };
}

function typeOf(format: ArchiveFormat, label: string): string {
  if (UNSPECIFIC_TYPES.includes(label)) return TYPES[format];
  if (format === 'zip') return ZIP_TYPE;
  return label === ZIP_TYPE ? TAR_TYPE : label;
}

const TYPES: Readonly<Record<ArchiveFormat, string>> = {
  zip: ZIP_TYPE,
  tar: TAR_TYPE,
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  'tar.xz': 'application/x-xz',
};

/** Number of bytes that identify a tar, by the checksum of its first header. */
const HEAD_BYTES = 512;

/** Detects the format from the first bytes, lets `judge` refuse it, then passes all bytes on. */
async function* detectFormat(
  body: AsyncIterable<Uint8Array>,
  judge: (format: ArchiveFormat) => void,
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of body) {
    if (!head) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      judge(formatOf(head));
      yield head;
      head = undefined;
    }
  }
  if (!head) return;
  judge(formatOf(head));
  yield head;
}

function formatOf(head: Buffer): ArchiveFormat {
  if (head.length === 0) throw badRequest('The body is empty where an archive is needed.');
  const format = sniffFormat(head.subarray(0, HEAD_BYTES));
  if (format !== 'unknown') return format;
  throw new SwordError(
    'ErrorContent',
    'The bytes are neither a zip nor a tar: send a zip, tar, tar.gz, tar.bz2 or tar.xz.',
    {
      verboseDescription: `The file begins with the bytes ${head.subarray(0, 8).toString('hex')}.`,
    },
  );
}
