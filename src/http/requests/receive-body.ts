import type { ReceivedContent } from '../../deposits/client-write.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { collectingBuffers } from '../../tools/gc-hint.ts';
import type { HttpSettings } from '../http-settings.ts';
import { assertArchiveWithin, type BodyKind, digestsOf, isEmpty } from './deposit-request.ts';
import { receiveArchive } from './receive-archive.ts';
import { assertMd5, entryTooLarge, receiveEntryBytes, storeEntry, understandEntry } from './receive-entry.ts';
import { receiveMultipart } from './receive-multipart.ts';
import type { IncomingWrite } from './receiving.ts';
import { isEmptyBody, requestBody } from './request-body.ts';
import { assertDigests, verifyingBytes } from './verify-digests.ts';

/** Bytes that a multipart body may have in addition to its archive and its entry. */
const MULTIPART_OVERHEAD = 256 * 1024;
/** The growth of a part by base64, line breaks included. */
const BASE64_GROWTH = 78 / 57;

type SizeLimits = Pick<HttpSettings, 'maxUploadSize' | 'maxEntrySize'>;

/** Refuses a body by its declared length. @throws {SwordError} 413 */
export function assertDeclaredLength(length: number | null, body: BodyKind, limits: SizeLimits): void {
  if (body.kind === 'entry') {
    if ((length ?? 0) > limits.maxEntrySize) throw entryTooLarge(limits.maxEntrySize);
  } else if (body.kind !== 'upload') assertArchiveWithin(length, maxBodyBytes(body, limits));
}

/** Returns the maximum bytes of a body with an archive. Each part of a multipart body may be in base64. */
function maxBodyBytes(
  body: Kind<'archive' | 'multipart'>,
  { maxUploadSize, maxEntrySize }: SizeLimits,
): number {
  if (body.kind === 'archive') return maxUploadSize;
  return Math.ceil((maxUploadSize + maxEntrySize) * BASE64_GROWTH) + MULTIPART_OVERHEAD;
}

export async function receiveBody(incoming: IncomingWrite): Promise<ReceivedContent> {
  const { body } = incoming;
  switch (body.kind) {
    case 'archive':
      return { archive: await receiveArchiveBody(incoming, body), entry: null };
    case 'entry':
      return receiveEntryBody(incoming, body);
    case 'multipart':
      return receiveMultipartBody(incoming, body);
    case 'upload':
      return receiveNamedUpload(incoming, body);
    default:
      return body satisfies never;
  }
}

type Kind<Name extends BodyKind['kind']> = Extract<BodyKind, { kind: Name }>;

async function receiveArchiveBody(
  { ctx, request, accepted, validateEntry, parts }: IncomingWrite,
  { filename, mediaType }: Kind<'archive'>,
): Promise<Archive> {
  await validateEntry(null);
  const { maxUploadSize, bodyTimeouts } = parts;
  const { declaredLength: length, md5 } = request;
  const announced = { filename, mediaType, md5, digests: digestsOf(request), length, accepted };
  return await receiveArchive(
    collectingBuffers(requestBody(ctx, maxUploadSize, bodyTimeouts)),
    announced,
    parts,
  );
}

async function receiveEntryBody(
  { ctx, request, validateEntry, parts }: IncomingWrite,
  { charset }: Kind<'entry'>,
): Promise<ReceivedContent> {
  const { maxEntrySize, bodyTimeouts } = parts;
  const bytes = await receiveEntryBytes(ctx, maxEntrySize, bodyTimeouts);
  assertMd5(bytes, request.md5);
  assertDigests(bytes, digestsOf(request));
  const read = await understandEntry(bytes, charset, ctx.state.login, parts);
  const target = await validateEntry(read.facts);
  return { archive: null, entry: await storeEntry(read, parts), target };
}

function receiveMultipartBody(incoming: IncomingWrite, kind: Kind<'multipart'>): Promise<ReceivedContent> {
  const { ctx, request, parts } = incoming;
  const bytes = collectingBuffers(requestBody(ctx, maxBodyBytes(kind, parts), parts.bodyTimeouts));
  return receiveMultipart(verifyingBytes(bytes, digestsOf(request)), kind.mediaType, incoming);
}

async function receiveNamedUpload(
  { ctx, request, accepted, executed, validateEntry, parts }: IncomingWrite,
  { named }: Kind<'upload'>,
): Promise<ReceivedContent> {
  assertDigests(NOTHING, request.digests.content); // of the body: that of the archive is Repr-Digest
  if (accepted.archives.length === 0)
    throw badRequest('An upload is an archive, and no archive is accepted here.');
  if (!isEmpty(ctx) && !(await isEmptyBody(ctx)))
    throw badRequest('The request names an upload and has a body: send one or the other.');
  if (!parts.archiveSource) throw notFound('This service does not support resumable uploads.');
  await validateEntry(null);
  const archive = { named, md5: request.md5, digests: request.digests.repr, accepted, executed };
  return parts.archiveSource(ctx, archive, parts);
}

const NOTHING = new Uint8Array();
