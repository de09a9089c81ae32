import type { Archive, EntryFacts } from '../domain/deposit/events.ts';
import { parseContentDisposition, requireFilename } from '../sword/content-disposition.ts';
import { parseContentMd5 } from '../sword/content-md5.ts';
import { isArchiveType, isEntryType, type MediaType, parseMediaType } from '../sword/media-type.ts';
import { parsePackaging } from '../sword/packaging.ts';
import { badRequest } from '../sword/sword-error.ts';
import { type Accepted, unaccepted } from './deposit-request.ts';
import { boundaryOf, type Part, readMultipart } from './multipart.ts';
import { receiveArchive } from './receive-archive.ts';
import type { ReceivedContent, ReceiveOptions } from './receive-content.ts';
import { entryTooLarge, type ReadEntry, storeEntry, understandEntry } from './receive-entry.ts';
import { collect } from './request-body.ts';

/**
 * An archive and an entry in one body, in any order; either may be missing. The archive streams into the store
 * while it comes, but its end is held back until the whole body has been read and found good: a bad part
 * leaves nothing behind.
 */
export async function receiveMultipart(
  body: AsyncIterable<Uint8Array>,
  mediaType: MediaType,
  md5: string | null,
  accepted: Accepted,
  judge: (facts: EntryFacts) => Promise<void>,
  options: ReceiveOptions,
): Promise<ReceivedContent> {
  const { store, maxEntrySize, depositNamespace } = options;
  const wholeBody = Promise.withResolvers<void>();
  wholeBody.promise.catch(() => undefined); // whoever stores an archive hears of it
  let storing: Promise<Archive> | undefined;
  let entry: ReadEntry | undefined;
  try {
    for await (const part of readMultipart(body, boundaryOf(mediaType.parameters))) {
      if (isEntryPart(part, accepted)) {
        if (entry) throw badRequest('The multipart body has more than one metadata entry.');
        entry = await readEntryPart(part, maxEntrySize, depositNamespace);
        await judge(entry.facts);
      } else {
        const announced = announcedIn(part, md5, accepted);
        if (storing) throw badRequest('The multipart body has more than one archive.');
        const { source, consumed } = heldBack(part.body, wholeBody.promise);
        storing = receiveArchive(source, announced, options);
        storing.catch(() => undefined); // awaited below, when its verdict is due
        await Promise.race([consumed, storing]);
      }
    }
    if (!storing && !entry)
      throw badRequest('The multipart body has neither an archive nor a metadata entry.');
    wholeBody.resolve();
  } catch (error) {
    wholeBody.reject(error);
    await storing?.catch(() => undefined); // nothing of it stays
    throw error;
  }
  const archive = (await storing) ?? null;
  return { archive, entry: entry ? await storeEntry(entry, store) : null };
}

/** Parts are told by their name, or else by their media type. */
function isEntryPart({ headers }: Part, accepted: Accepted): boolean {
  const { name } = parseContentDisposition(headers.get('content-disposition'));
  if (name === 'atom' && accepted.entry) return true;
  if (name === 'file') return false;
  return (
    accepted.entry && headers.has('content-type') && isEntryType(parseMediaType(headers.get('content-type')))
  );
}

function announcedIn({ headers }: Part, md5: string | null, accepted: Accepted) {
  const mediaType = parseMediaType(headers.get('content-type'));
  if (!isArchiveType(mediaType, accepted.archives)) throw unaccepted(mediaType.type, accepted);
  parsePackaging(headers.get('packaging'));
  const filename = requireFilename(headers.get('content-disposition'));
  const promised = parseContentMd5(headers.get('content-md5'), md5 ?? undefined);
  return { filename, mediaType: mediaType.type, md5: promised, length: null };
}

async function readEntryPart(
  { headers, body }: Part,
  maxBytes: number,
  depositNamespace: string,
): Promise<ReadEntry> {
  const type = headers.get('content-type');
  const charset = type === undefined ? undefined : parseMediaType(type).parameters.get('charset');
  return understandEntry(
    await collect(body, maxBytes, () => entryTooLarge(maxBytes)),
    charset,
    depositNamespace,
  );
}

/** The bytes of a part, ending only once `verdict` has been given. */
function heldBack(
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
