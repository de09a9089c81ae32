import { sniffFormat } from '../../archives/format.ts';
import type { ArchiveFormat } from '../../archives/inspection.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import type { Digests } from '../../sword/headers/digest-fields.ts';
import { isArchiveType, TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { badRequest, SwordError } from '../../sword/sword-error.ts';
import { type Accepted, unaccepted } from './deposit-request.ts';
import { observedUpload } from './observed-upload.ts';
import { promisedBytes } from './promised-bytes.ts';
import type { ReceiveOptions } from './receive-content.ts';

/** What is known of an archive before its bytes come. */
export type AnnouncedArchive = {
  readonly filename: string;
  /** As it was labelled. */
  readonly mediaType: string;
  readonly md5: string | null;
  readonly digests: Digests;
  /** Exact number of bytes, when it was declared. */
  readonly length: number | null;
  /** Where it comes. */
  readonly accepted: Accepted;
};

/**
 * Streams an archive into the store; it is there, whole and durable, when this resolves. Many clients label whatever
 * they send alike, so that its bytes say what it is and whether its collection takes it.
 */
export async function receiveArchive(
  body: AsyncIterable<Uint8Array>,
  { filename, mediaType: label, md5, digests, length, accepted }: AnnouncedArchive,
  { store, maxUploadSize: maxLength, observer }: ReceiveOptions,
): Promise<Archive> {
  const { sha256, sha512 } = digests;
  const others = { ...(sha256 !== null && { sha256 }), ...(length !== null && { length }) };
  const promised = { maxLength, ...(md5 && { md5 }), ...others };
  let mediaType = label;
  const judge = (format: ArchiveFormat): void => {
    mediaType = typeOf(format, label);
    if (!isArchiveType(mediaType, accepted.archives)) throw unaccepted(mediaType, accepted.archives);
  };
  const stored = await observedUpload(body, observer, (bytes) =>
    // SHA-256 is computed by the store in any case.
    store.put(recognised(promisedBytes(bytes, { sha256: null, sha512 }), judge), promised),
  );
  return { sha256: stored.sha256, length: stored.length, md5, filename, mediaType };
}

function typeOf(format: ArchiveFormat, label: string): string {
  if (format === 'zip') return ZIP_TYPE;
  return label === ZIP_TYPE ? TAR_TYPE : label;
}

/** Enough to tell a tar, whose mark is the checksum of its first header. */
const HEAD_BYTES = 512;

/** Passes the bytes on once the first of them are those of an archive. */
async function* recognised(
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
