import type { ArchiveFormat } from '../../archives/archive-reader.ts';
import { SNIFF_LENGTH, sniffFormat } from '../../archives/format.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { ContentMismatch } from '../../object-store/object-store.ts';
import { isArchiveType, TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { badRequest, SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { EndedUpload } from '../http-observer.ts';
import { unaccepted } from './deposit-request.ts';
import type { AnnouncedArchive, ReceivingParts } from './receiving.ts';
import { isClientGone } from './request-body.ts';
import { verifyingBytes } from './verify-digests.ts';

/**
 * Streams an archive into the store; it is complete and durable when this resolves. The bytes determine its media type,
 * and with it whether the collection accepts it, since many clients send one label for all formats.
 */
export async function receiveArchive(
  body: AsyncIterable<Uint8Array>,
  { filename, mediaType: label, md5, digests, length, accepted }: AnnouncedArchive,
  { store, maxUploadSize: maxLength, observer }: ReceivingParts,
): Promise<Archive> {
  const { sha256, sha512 } = digests;
  const others = { ...(sha256 !== null && { sha256 }), ...(length !== null && { length }) };
  const expected = { maxLength, ...(md5 && { md5 }), ...others };
  let mediaType = label;
  const assertFormat = (format: ArchiveFormat): void => {
    mediaType = typeOf(format, label);
    if (!isArchiveType(mediaType, accepted.archives)) throw unaccepted(mediaType, accepted.archives);
  };
  const started = clock.monotonic();
  const received = { bytes: 0 };
  let outcome: EndedUpload['outcome'] = 'failed';
  try {
    const bytes = verifyingBytes(body, { sha256: null, sha512 }); // the store verifies the other digests
    const stored = await store.put(examine(bytes, assertFormat, received), expected);
    outcome = 'stored';
    return { sha256: stored.sha256, length: stored.length, md5, filename, mediaType };
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    observer.uploaded({ outcome, bytes: received.bytes, seconds: (clock.monotonic() - started) / 1000 });
  }
}

function outcomeOf(error: unknown): EndedUpload['outcome'] {
  if (isClientGone(error)) return 'broken_off';
  return error instanceof SwordError || error instanceof ContentMismatch ? 'refused' : 'failed';
}

/** Returns the label if it fits the bytes, else the type of their format. */
function typeOf(format: ArchiveFormat, label: string): string {
  const [own, ...others] = TYPES[format];
  return others.includes(label) ? label : own;
}

const ANY_TAR = [TAR_TYPE, 'application/x-gtar'] as const;

/** Media types that fit the bytes of a format; its own is the first. */
const TYPES: Readonly<Record<ArchiveFormat, readonly [string, ...string[]]>> = {
  zip: [ZIP_TYPE],
  tar: ANY_TAR,
  'tar.gz': ['application/gzip', 'application/x-gzip', 'application/x-compressed-tar', ...ANY_TAR],
  'tar.bz2': ['application/x-bzip2', 'application/x-bzip', ...ANY_TAR],
  'tar.xz': ['application/x-xz', ...ANY_TAR],
};

/** Passes the bytes on, counts them in `received`, and lets `assertFormat` refuse their format. */
async function* examine(
  body: AsyncIterable<Uint8Array>,
  assertFormat: (format: ArchiveFormat) => void,
  received: { bytes: number },
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of body) {
    received.bytes += chunk.length;
    if (!head) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < SNIFF_LENGTH) continue;
      assertFormat(formatOf(head));
      yield head;
      head = undefined;
    }
  }
  if (!head) return;
  assertFormat(formatOf(head));
  yield head;
}

function formatOf(head: Buffer): ArchiveFormat {
  if (head.length === 0) throw badRequest('The body is empty where an archive is needed.');
  const format = sniffFormat(head.subarray(0, SNIFF_LENGTH));
  if (format !== 'unknown') return format;
  throw new SwordError(
    'ErrorContent',
    'The bytes are neither a zip nor a tar: send a zip, tar, tar.gz, tar.bz2 or tar.xz.',
    { verboseDescription: `The file begins with the bytes ${head.subarray(0, 8).toString('hex')}.` },
  );
}
