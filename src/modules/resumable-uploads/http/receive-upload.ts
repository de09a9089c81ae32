import type { ReceivedContent } from '../../../deposits/client-write.ts';
import type { Archive } from '../../../domain/deposit/events.ts';
import { type Accepted, unaccepted } from '../../../http/requests/deposit-request.ts';
import { isDryRun } from '../../../http/requests/dry-run-parameter.ts';
import { paramsOf } from '../../../http/requests/path-names.ts';
import { receiveArchive } from '../../../http/requests/receive-archive.ts';
import type { NamedArchive, ReceivingParts } from '../../../http/requests/receiving.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import {
  baseName,
  parseContentDisposition,
  requireFilename,
} from '../../../sword/headers/content-disposition.ts';
import { isArchiveType, parseMediaType } from '../../../sword/headers/media-type.ts';
import { assertPackaging } from '../../../sword/headers/packaging.ts';
import { badRequest, checksumMismatch, quoted } from '../../../sword/sword-error.ts';
import { collectingBuffers } from '../../../tools/gc-hint.ts';
import type { Upload } from '../upload.ts';
import { alreadyUsedError, ClaimedUpload, type NameableUploads } from './claimed-upload.ts';
import { parseUploadMetadata } from './tus-headers.ts';

/**
 * Stores the upload that the request names in place of a body. It stays locked until the request has been answered.
 * Another node, which does not know the upload, answers a repeated request by the archive that the first one added.
 */
export async function receiveUpload(
  ctx: ServiceContext,
  { named, executed, accepted, ...promised }: NamedArchive,
  parts: ReceivingParts,
  nameable: NameableUploads,
): Promise<ReceivedContent> {
  const { collection } = paramsOf(ctx);
  const id = idIn(named, nameable.iris.uploads(collection));
  const owner = { client: ctx.state.login.client, collection };
  const repeated = nameable.uploads.find(id, owner) ? undefined : await executed();
  if (repeated && !isDryRun(ctx)) {
    const { archive } = await nameable.queries.contentOf(repeated);
    if (archive) {
      assertPromised(archive, promised);
      return { archive: renamed(archive, ctx), entry: null };
    }
  }
  const claimed = await ClaimedUpload.claim(id, owner, nameable);
  ctx.state.namedUpload = claimed;
  const { upload } = claimed;
  const { state } = upload;
  const announced = { ...announcedBy(ctx, upload, accepted), ...promised, length: upload.length };
  if (state.status === 'used') {
    // A dry run needs the bytes, which are no longer here.
    const earlier = isDryRun(ctx) ? undefined : await executed();
    if (!earlier) throw await alreadyUsedError(upload, state, nameable);
    const { filename, md5, length } = announced;
    const { archive: added } = await nameable.queries.contentOf(earlier);
    const isSame = added?.sha256 === state.sha256; // else the key was used for another request
    if (isSame) assertPromised(added, promised);
    const { mediaType } = isSame ? added : announced;
    return { archive: { sha256: state.sha256, length, md5, filename, mediaType }, entry: null };
  }
  const limited = { ...parts, maxUploadSize: upload.length };
  const archive = await claimed.store((bytes) =>
    receiveArchive(collectingBuffers(bytes), announced, limited),
  );
  return { archive, entry: null, upload: claimed };
}

/**
 * Compares the archive of the earlier request with the digests that the repeated one announces, as far as they are
 * recorded: an MD5 is if the earlier request announced it.
 * @throws {SwordError} 412: they differ.
 */
function assertPromised(archive: Archive, { md5, digests }: Pick<NamedArchive, 'md5' | 'digests'>): void {
  for (const [name, promised, found] of [
    ['MD5', md5, archive.md5],
    ['SHA-256', digests.sha256, archive.sha256],
  ] as const) {
    if (promised === null || found === null || promised === found) continue;
    const text = `The ${name} promised is ${promised}, but the archive deposited with this Idempotency-Key has ${found}: use another key for another archive.`;
    throw checksumMismatch(text);
  }
}

/** Returns the archive with the name that the request gives it, which is part of what is repeated. */
function renamed(archive: Archive, { req }: ServiceContext): Archive {
  const { filename } = parseContentDisposition(req.headers['content-disposition']);
  return filename === null ? archive : { ...archive, filename };
}

/** Returns the id that is named, alone or in the IRI of the upload. */
function idIn(named: string, uploadsIri: string): string {
  const text = named.startsWith(uploadsIri) ? named.slice(uploadsIri.length).replace(/\/$/, '') : named;
  if (/^[0-9a-f-]{36}$/.test(text)) return text;
  throw badRequest(`Upload: ${quoted(named)} is neither the IRI nor the id of an upload in this collection.`);
}

/** Returns name and type of the archive, from the headers of the request or else from the metadata of the upload. */
function announcedBy(ctx: ServiceContext, upload: Upload, accepted: Accepted) {
  const { headers } = ctx.req;
  const values = parseUploadMetadata(upload.record.metadata);
  const mediaType = parseMediaType(headers['content-type'] ?? values.get('filetype'), 'The upload');
  if (!isArchiveType(mediaType.type, accepted.archives)) throw unaccepted(mediaType.type, accepted.archives);
  assertPackaging(headers['packaging']);
  const disposition = headers['content-disposition'];
  const name = values.get('filename');
  const isNamed = name === undefined || parseContentDisposition(disposition).filename !== null;
  const filename = isNamed ? requireFilename(disposition) : baseName(name, 'Upload-Metadata');
  return { filename, mediaType: mediaType.type, accepted };
}
