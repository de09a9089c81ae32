import type { Iris } from '../../sword/iris.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { ResumableUploads } from '../../uploads/resumable-uploads.ts';
import type { Upload } from '../../uploads/upload.ts';
import { assertNoDryRun, grantedCollection } from '../deposit-resource.ts';
import { assertDeclaredWithin, isEmpty, refuseCodings } from '../receiving/deposit-request.ts';
import { receivePiece } from '../receiving/receive-piece.ts';
import type { Patience } from '../receiving/request-body.ts';
import {
  assertOffsetType,
  assertTusVersion,
  parseUploadChecksum,
  parseUploadLength,
  parseUploadMetadata,
} from '../receiving/tus-headers.ts';
import { resource } from '../resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** Where resumable uploads begin: the tus extensions Creation and Creation With Upload. */
export function uploadsIri(uploads: ResumableUploads, iris: Iris, patience: Patience): ServiceMiddleware {
  return resource<string>({
    find: async (ctx) => {
      const collection = grantedCollection(ctx);
      assertNoDryRun(ctx);
      return collection;
    },
    handlers: {
      POST: async (ctx, collection) => {
        const { headers } = ctx.req;
        assertTusVersion(headers);
        const length = parseUploadLength(headers);
        const { text: metadata } = parseUploadMetadata(headers['upload-metadata']?.toString().trim() || null);
        assertWithin(length, uploads.limits.maxSize);
        const receiveFirst = firstPiece(ctx, length);
        const { client } = ctx.state.login;
        const upload = await uploads.create({ client, collection, length, metadata });
        await receiveFirst?.(upload);
        ctx.status = 201;
        ctx.body = '';
        ctx.remove('Content-Type');
        ctx.set('Location', iris.upload(collection, upload.id));
        ctx.set('Upload-Expires', uploads.expiresAt(upload).toUTCString());
        if (receiveFirst) ctx.set('Upload-Offset', String(upload.offset));
      },
    },
  });

  /** What receives the body, if one comes; found good as far as that can be before anything is made. */
  function firstPiece(ctx: ServiceContext, length: number): ((upload: Upload) => Promise<void>) | undefined {
    if (isEmpty(ctx)) return undefined;
    const { headers } = ctx.req;
    refuseCodings(headers);
    assertOffsetType(headers);
    const checksum = parseUploadChecksum(headers);
    assertDeclaredWithin(ctx.request.length ?? null, length);
    return async (upload) => {
      try {
        await receivePiece(ctx, upload, uploads, { offset: 0, checksum }, patience);
      } catch (error) {
        // Nobody has been told where it is.
        using _hold = await uploads.hold(upload);
        await uploads.remove(upload);
        throw error;
      }
    };
  }
}

function assertWithin(length: number, maxSize: number): void {
  if (length <= maxSize) return;
  const text = `An upload of ${length} bytes is larger than the ${maxSize} bytes that are accepted.`;
  throw new SwordError('MaxUploadSizeExceeded', text, { headers: { 'Tus-Max-Size': String(maxSize) } });
}
