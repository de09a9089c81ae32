import { withoutGarbage } from '../../garbage.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { Checksum } from '../../uploads/checksum.ts';
import type { ResumableUploads } from '../../uploads/resumable-uploads.ts';
import type { Upload } from '../../uploads/upload.ts';
import type { ServiceContext } from '../service-context.ts';
import { assertDeclaredWithin } from './deposit-request.ts';
import { ClientGone, isClientGone, type Patience, requestBody } from './request-body.ts';

export type Piece = { readonly offset: number; readonly checksum: Checksum | undefined };

/** Adds the body of the request to an upload; all of it is there for good when this resolves. */
export async function receivePiece(
  ctx: ServiceContext,
  upload: Upload,
  uploads: ResumableUploads,
  { offset, checksum }: Piece,
  patience: Patience,
): Promise<void> {
  // Who is cut off here has stalled, or wants the upload removed: nobody waits for the answer.
  using hold = await uploads.hold(upload, { interrupt: () => ctx.req.destroy() });
  if (upload.state.status === 'used' || offset !== upload.offset) throw atAnotherOffset(offset, upload);
  const rest = upload.length - offset;
  assertDeclaredWithin(ctx.request.length ?? null, rest);
  await upload.append(hold.watched(withoutGarbage(orGone(requestBody(ctx, rest, patience)))), checksum);
}

/** Who is too slow is cut off, as the protocol has it: its client goes on with another request, but not after a 400. */
async function* orGone(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw isClientGone(error) ? error : new ClientGone('The bytes came too slowly.', { cause: error });
  }
}

function atAnotherOffset(offset: number, upload: Upload): SwordError {
  const text = `The upload has ${upload.offset} bytes, so it cannot be gone on with at ${offset}: ask for its offset by HEAD.`;
  return new SwordError('Conflict', text);
}
