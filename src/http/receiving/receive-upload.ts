import type { Archive } from '../../domain/deposit/events.ts';
import { withoutGarbage } from '../../garbage.ts';
import {
  attachment,
  parseContentDisposition,
  requireFilename,
} from '../../sword/headers/content-disposition.ts';
import { isArchiveType, parseMediaType } from '../../sword/headers/media-type.ts';
import { assertPackaging } from '../../sword/headers/packaging.ts';
import { badRequest, notFound, quoted } from '../../sword/sword-error.ts';
import type { Upload } from '../../uploads/upload.ts';
import { paramsOf } from '../deposit-resource.ts';
import type { ServiceContext } from '../service-context.ts';
import { type Accepted, isDryRun, isEmpty, unaccepted } from './deposit-request.ts';
import { IdempotentRequest } from './idempotent-request.ts';
import { type AnnouncedArchive, receiveArchive } from './receive-archive.ts';
import type { ReceiveOptions } from './receive-content.ts';
import { parseUploadMetadata } from './tus-headers.ts';
import { type NameableUploads, UploadInUse, usedBefore } from './upload-in-use.ts';

/**
 * Stores the upload that the request names in place of a body. It is held until the request has been answered; what
 * then names the archive in the log does so through `ctx.state.upload`.
 */
export async function receiveUpload(
  ctx: ServiceContext,
  named: string,
  promised: Pick<AnnouncedArchive, 'md5' | 'digests'>,
  accepted: Accepted,
  options: ReceiveOptions,
): Promise<Archive> {
  if (accepted.archives.length === 0)
    throw badRequest('An upload is an archive, and no archive has a place here.');
  if (!isEmpty(ctx)) throw badRequest('The request names an upload and has a body: send one or the other.');
  const { nameable } = options;
  if (!nameable) throw notFound('This service takes no resumable uploads.');
  const { collection } = paramsOf(ctx);
  const id = idIn(named, nameable.iris.uploads(collection));
  const inUse = await UploadInUse.take(id, { client: ctx.state.login.client, collection }, nameable);
  ctx.state.upload = inUse;
  const { upload } = inUse;
  const { state } = upload;
  const announced = { ...announcedBy(ctx, upload, accepted), ...promised, length: upload.length };
  if (state.status === 'used') {
    // A dry run looks into the bytes, which are not here any more.
    const isTold = !isDryRun(ctx) && (await isRepetition(ctx, nameable));
    if (!isTold) throw await usedBefore(upload, state, nameable);
    const { filename, md5, length } = announced;
    const { archives = [] } = (await nameable.desk.content(state.depositId)) ?? {};
    const { mediaType } = archives.find(({ sha256 }) => sha256 === state.sha256) ?? announced;
    return { sha256: state.sha256, length, md5, filename, mediaType };
  }
  const limits = { ...options, maxUploadSize: upload.length };
  return inUse.store((bytes) => receiveArchive(withoutGarbage(bytes), announced, limits));
}

/** What was done already under the same Idempotency-Key is answered again, without the bytes. */
async function isRepetition(ctx: ServiceContext, { desk }: NameableUploads): Promise<boolean> {
  const earlier = await IdempotentRequest.of(ctx, desk.requests)?.earlier();
  return earlier !== undefined && desk.hasDone(earlier);
}

/** The id alone, or the IRI that the upload was given. */
function idIn(named: string, uploadsIri: string): string {
  const text = named.startsWith(uploadsIri) ? named.slice(uploadsIri.length).replace(/\/$/, '') : named;
  if (/^[0-9a-f-]{36}$/.test(text)) return text;
  throw badRequest(`Upload: ${quoted(named)} is neither the IRI nor the id of an upload in this collection.`);
}

/** By the headers of the request, else by what was said when the upload began. */
function announcedBy(ctx: ServiceContext, upload: Upload, accepted: Accepted) {
  const { headers } = ctx.req;
  const { values } = parseUploadMetadata(upload.record.metadata);
  const mediaType = parseMediaType(headers['content-type'] ?? values.get('filetype'), 'The upload');
  if (!isArchiveType(mediaType.type, accepted.archives)) throw unaccepted(mediaType.type, accepted.archives);
  assertPackaging(headers['packaging']);
  const filename = values.get('filename');
  const isNamed = parseContentDisposition(headers['content-disposition']).filename !== null;
  const disposition =
    isNamed || filename === undefined ? headers['content-disposition'] : attachment(filename);
  return { filename: requireFilename(disposition), mediaType: mediaType.type, accepted };
}
