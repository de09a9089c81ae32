import { sniffFormat } from '../../archives/format.ts';
import type { ReceivedContent } from '../../deposits/client-write.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { parseContentDisposition, requireFilename } from '../../sword/headers/content-disposition.ts';
import { parseContentMd5 } from '../../sword/headers/content-md5.ts';
import { bothDigests, parseDigestField } from '../../sword/headers/digest-fields.ts';
import {
  isArchiveType,
  isEntryType,
  type MediaType,
  parseMediaType,
} from '../../sword/headers/media-type.ts';
import { assertPackaging } from '../../sword/headers/packaging.ts';
import { badRequest, checksumMismatch, quoted } from '../../sword/sword-error.ts';
import { type Accepted, partTypes, unaccepted } from './deposit-request.ts';
import { boundaryOf, type Part, readMultipart } from './multipart.ts';
import { archiveOf, contentOf, entryBytes } from './part-encoding.ts';
import { receiveArchive } from './receive-archive.ts';
import { assertMd5, entryTooLarge, type ReadEntry, storeEntry, understandEntry } from './receive-entry.ts';
import type { AnnouncedArchive, IncomingWrite, ReceivingParts } from './receiving.ts';
import { collect } from './request-body.ts';
import { assertDigests } from './verify-digests.ts';

/** The parts of a body that have arrived so far; an archive is stored while the rest of the body arrives. */
type ReceivedParts = { readonly entry?: ReadEntry; readonly storing?: Promise<Archive> };

/**
 * Receives an archive and an entry in one body, in any order; either may be missing. The archive streams into the store
 * as it arrives. Its end is delayed until the whole body is read and valid, so that a bad part leaves nothing in the
 * store.
 */
export async function receiveMultipart(
  body: AsyncIterable<Uint8Array>,
  mediaType: MediaType,
  incoming: IncomingWrite,
): Promise<ReceivedContent> {
  const { request, parts } = incoming;
  const accepted = incoming.accepted.inMultipart ?? incoming.accepted;
  const wholeBody = Promise.withResolvers<void>();
  wholeBody.promise.catch(() => undefined); // storing an archive awaits it, too
  let received: ReceivedParts = {};
  try {
    const allParts = readMultipart(body, boundaryOf(mediaType.parameters), parts.maxParts);
    for await (const part of typedParts(allParts, mediaType)) {
      if (isEntryPart(part, accepted)) {
        if (received.entry) throw badRequest('The multipart body has more than one metadata entry.');
        received = { ...received, entry: await receiveEntryPart(part, incoming) };
      } else {
        const announced = announcedIn(part, request.md5, accepted);
        if (received.storing) throw badRequest('The multipart body has more than one archive.');
        const { storing, consumed } = storeArchivePart(part, announced, wholeBody.promise, parts);
        received = { ...received, storing };
        await Promise.race([consumed, storing]);
      }
    }
    assertComplete(received, request.md5);
    if (!received.entry) await incoming.validateEntry(null);
    wholeBody.resolve();
  } catch (error) {
    wholeBody.reject(error);
    await received.storing?.catch(() => undefined); // its object is not stored
    throw error;
  }
  const archive = (await received.storing) ?? null;
  return { archive, entry: received.entry ? await storeEntry(received.entry, parts) : null };
}

/** Yields the parts with their media types; for the root of `multipart/related`, the whole states it (RFC 2387). */
async function* typedParts(
  parts: AsyncIterable<Part>,
  { type: whole, parameters }: MediaType,
): AsyncGenerator<Part> {
  const [start, type] = [parameters.get('start'), parameters.get('type')];
  let isFirst = true;
  for await (const { headers, body } of parts) {
    const isRoot = start === undefined ? isFirst : headers.get('content-id') === start;
    const isUntyped = isRoot && type !== undefined && !headers.has('content-type');
    isFirst = false;
    const typed =
      whole === 'multipart/related' && isUntyped ? new Map([...headers, ['content-type', type]]) : headers;
    yield { headers: typed, body };
  }
}

/** Returns whether the part is an entry, by its name, or else by its media type. */
function isEntryPart({ headers }: Part, accepted: Accepted): boolean {
  const { name } = parseContentDisposition(headers.get('content-disposition'), 'part');
  if (name === 'atom' && accepted.entry) return true;
  if (isArchiveName(name)) return false;
  return (
    accepted.entry && headers.has('content-type') && isEntryType(parseMediaType(headers.get('content-type')))
  );
}

function isArchiveName(name: string | null): boolean {
  return name === 'file' || name === 'payload';
}

function announcedIn({ headers }: Part, md5: string | null, accepted: Accepted): AnnouncedArchive {
  const { name } = parseContentDisposition(headers.get('content-disposition'), 'part');
  const part = `The part ${name === null ? 'without a name' : quoted(name)} of the multipart body`;
  const contentType = headers.get('content-type') ?? 'application/octet-stream';
  const mediaType = parseMediaType(contentType, part);
  if (!isArchiveType(mediaType.type, accepted.archives)) {
    const isFile = isArchiveName(name) && accepted.archives.length > 0;
    throw unaccepted(contentType, isFile ? accepted.archives : partTypes(accepted));
  }
  assertPackaging(headers.get('packaging'));
  const filename = requireFilename(headers.get('content-disposition'), part);
  const digests = digestsIn(headers);
  return { filename, mediaType: mediaType.type, md5: md5In(headers, md5), digests, length: null, accepted };
}

/** Returns the digests of the decoded content of a part, to which `Content-MD5` refers as well. */
function digestsIn(headers: Part['headers']) {
  return bothDigests(
    parseDigestField('Content-Digest', headers.get('content-digest')),
    parseDigestField('Repr-Digest', headers.get('repr-digest')),
  );
}

/** Returns the MD5 in the headers of a part, which may be spelled with an underscore like that of a request. */
function md5In(headers: Part['headers'], ofRequest: string | null = null): string | null {
  return parseContentMd5(headers.get('content-md5'), headers.get('content_md5'), ofRequest ?? undefined);
}

/** Maximum length of base64 in relation to its bytes, with lines of 64 digits or more. */
const BASE64_FACTOR = 1.4;

async function receiveEntryPart(
  part: Part,
  { ctx, validateEntry, parts }: IncomingWrite,
): Promise<ReadEntry> {
  const { maxEntrySize: maxBytes } = parts;
  const { headers } = part;
  const type = headers.get('content-type');
  const charset = type === undefined ? undefined : parseMediaType(type).parameters.get('charset');
  const tooLarge = () => entryTooLarge(maxBytes);
  // Undeclared base64 is detected afterwards; the limit is of the decoded bytes.
  const bytes = entryBytes(await collect(contentOf(part), maxBytes * BASE64_FACTOR, tooLarge));
  if (bytes.length > maxBytes) throw tooLarge();
  assertMd5(bytes, md5In(headers));
  assertDigests(bytes, digestsIn(headers));
  const entry = await understandEntry(bytes, charset, ctx.state.login, parts);
  await validateEntry(entry.facts);
  return entry;
}

/** Begins to store an archive. It is stored once `wholeBody` resolves; `consumed` when all its bytes have been read. */
function storeArchivePart(
  part: Part,
  announced: AnnouncedArchive,
  wholeBody: Promise<void>,
  parts: ReceivingParts,
): { storing: Promise<Archive>; consumed: Promise<void> } {
  const decoded = archiveOf(part, (head) => sniffFormat(head) !== 'unknown');
  const { source, consumed } = delayEnd(decoded, wholeBody);
  const storing = receiveArchive(source, announced, parts);
  storing.catch(() => undefined); // the caller awaits it, with the whole body
  return { storing, consumed };
}

/** Delays the end of a part until `verdict` resolves. */
function delayEnd(
  body: AsyncIterable<Uint8Array>,
  verdict: Promise<void>,
): { source: AsyncIterable<Uint8Array>; consumed: Promise<void> } {
  const { promise: consumed, resolve } = Promise.withResolvers<void>();
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* body;
    resolve();
    await verdict;
  }
  return { source: source(), consumed };
}

function assertComplete({ storing, entry }: ReceivedParts, md5: string | null): void {
  if (storing) return;
  if (!entry) throw badRequest('The multipart body has neither an archive nor a metadata entry.');
  if (md5 !== null)
    throw checksumMismatch(`Content-MD5 promises an archive, but the multipart body has none.`);
}
