import { resource } from '../../../http/iris/resource.ts';
import { isEmpty, refuseCodings } from '../../../http/requests/deposit-request.ts';
import { assertNoDryRun } from '../../../http/requests/dry-run-parameter.ts';
import { grantedCollection } from '../../../http/requests/path-names.ts';
import type { BodyTimeouts } from '../../../http/requests/request-body.ts';
import type { ServiceContext, ServiceMiddleware } from '../../../http/service-context.ts';
import type { Iris } from '../../../sword/iris.ts';
import { SwordError, shortened } from '../../../sword/sword-error.ts';
import type { ResumableUploads } from '../resumable-uploads.ts';
import type { Upload } from '../upload.ts';
import { assertFits, receiveChunk } from './receive-chunk.ts';
import {
  assertOffsetType,
  assertTusVersion,
  parseUploadChecksum,
  parseUploadLength,
  parseUploadMetadata,
} from './tus-headers.ts';

/** Where resumable uploads begin: the tus extensions Creation and Creation With Upload. */
export function uploadsHandler(
  uploads: ResumableUploads,
  iris: Iris,
  bodyTimeouts: BodyTimeouts,
): ServiceMiddleware {
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
        const metadata = headers['upload-metadata']?.toString().trim() || null;
        parseUploadMetadata(metadata); // throws if it is malformed
        assertWithin(length, uploads.limits.maxSize, String(headers['upload-length']));
        const receiveFirst = firstPiece(ctx, length);
        const { client, collections } = ctx.state.login;
        const upload = await uploads.create({ client, collection, length, metadata }, collections);
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

  /** Returns a function that receives the body, if there is one. Its headers are checked before the upload is created. */
  function firstPiece(ctx: ServiceContext, length: number): ((upload: Upload) => Promise<void>) | undefined {
    if (isEmpty(ctx)) return undefined;
    const { headers } = ctx.req;
    refuseCodings(headers);
    assertOffsetType(headers);
    const checksum = parseUploadChecksum(headers);
    assertFits(ctx, length);
    return async (upload) => {
      try {
        await receiveChunk(ctx, upload, uploads, { offset: 0, checksum }, bodyTimeouts);
      } catch (error) {
        // No client knows its address.
        using _hold = await uploads.hold(upload);
        await uploads.remove(upload);
        throw error;
      }
    };
  }
}

/** @param sent the length as it was sent: the number may be too large to be printed */
function assertWithin(length: number, maxSize: number, sent: string): void {
  if (length <= maxSize) return;
  const text = `An upload of ${shortened(sent)} bytes is larger than the ${maxSize} bytes that are accepted.`;
  throw new SwordError('MaxUploadSizeExceeded', text, { headers: { 'Tus-Max-Size': String(maxSize) } });
}
