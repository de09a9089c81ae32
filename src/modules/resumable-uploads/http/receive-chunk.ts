import { assertGranted } from '../../../http/requests/path-names.ts';
import {
  type BodyTimeouts,
  ClientGone,
  isClientGone,
  requestBody,
} from '../../../http/requests/request-body.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import { SwordError, shortened } from '../../../sword/sword-error.ts';
import { collectingBuffers } from '../../../tools/gc-hint.ts';
import type { ResumableUploads } from '../resumable-uploads.ts';
import { type Checksum, tooManyBytes, type Upload } from '../upload.ts';

export type Piece = { readonly offset: number; readonly checksum: Checksum | undefined };

/**
 * Appends the body of the request to an upload. All of it is durable when this resolves.
 * @throws {SwordError} 401, 404: login or grant were revoked while the body arrived; its bytes are stored nevertheless.
 */
export async function receiveChunk(
  ctx: ServiceContext,
  upload: Upload,
  uploads: ResumableUploads,
  { offset, checksum }: Piece,
  bodyTimeouts: BodyTimeouts,
): Promise<void> {
  // An interrupted request has stalled, or its client removes the upload: no client waits for the answer.
  using hold = await uploads.hold(upload, { interrupt: () => ctx.req.destroy() });
  if (upload.state.status === 'used' || offset !== upload.offset)
    throw offsetMismatchError(String(ctx.req.headers['upload-offset']), upload);
  assertFits(ctx, upload.length, offset);
  const body = collectingBuffers(orGone(requestBody(ctx, upload.length - offset, bodyTimeouts)));
  await upload.append(uploads.withRoom(upload, hold.watched(body)), checksum);
  // By the views, which need no log: uploads continue during its outages. The deposit is confirmed by the log.
  assertGranted(await ctx.state.verifyAgain(), upload.record.collection);
}

/** Refuses a body by its declared length if it does not fit into the rest of an upload. */
export function assertFits({ request }: ServiceContext, length: number, offset = 0): void {
  if ((request.length ?? 0) > length - offset) throw tooManyBytes(length);
}

/** Ends the connection of a slow client, as tus requires: the client resumes with another request, but not after a 408. */
async function* orGone(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw isClientGone(error) ? error : new ClientGone('The bytes arrived too slowly.', { cause: error });
  }
}

/** @param sent the offset as it was sent: the number may be too large to be printed */
function offsetMismatchError(sent: string, upload: Upload): SwordError {
  const text = `The upload has ${upload.offset} bytes, so it cannot continue at ${shortened(sent)}: request its offset by HEAD.`;
  return new SwordError('Conflict', text);
}
